#include "core/calibration/int8_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::calibration {

void Int8Error::add(std::span<const float> values)
{
    if (m_threshold <= 0)
        return;
    const double highest = m_range == CodeRange::Symmetric ? 127 : 255;
    const double lowest = m_range == CodeRange::Symmetric ? -127 : 0;
    const double step = m_threshold / highest;
    for (const float value : values) {
        const double x = std::isfinite(value) ? value : 0;
        const double error = std::clamp(std::nearbyint(x / step), lowest, highest) * step - x;
        m_signal += x * x;
        m_noise += error * error;
    }
}

std::optional<double> Int8Error::sqnrDb() const
{
    if (m_signal == 0)
        return std::nullopt;
    return m_noise > 0 ? 10 * std::log10(m_signal / m_noise) : std::numeric_limits<double>::infinity();
}

} // namespace halftone::calibration
