#include "core/calibration/histogram.h"

#include <algorithm>
#include <cmath>

namespace halftone::calibration {

void Histogram::add(std::span<const float> values, float absMax)
{
    if (absMax == 0) {
        const auto zeros = static_cast<std::uint64_t>(std::ranges::count(values, 0.0F));
        if (m_limit == 0)
            m_zerosBefore += zeros;
        else
            m_counts[m_counts.size() / 2] += zeros;
        return;
    }
    if (m_limit == 0) {
        m_limit = absMax;
        m_counts.assign(kFirstBins, 0);
        m_counts[kFirstBins / 2] = m_zerosBefore;
        m_zerosBefore = 0;
    } else if (absMax > m_limit) {
        grow(absMax);
    }
    const double scale = static_cast<double>(m_counts.size()) / (2 * m_limit);
    const auto last = static_cast<double>(m_counts.size() - 1);
    for (const float value : values) {
        if (!std::isfinite(value))
            continue;
        const double at = std::clamp((value + m_limit) * scale, 0.0, last);
        ++m_counts[static_cast<std::size_t>(at)];
    }
}

void Histogram::grow(double absMax)
{
    const auto widthNow = [this] { return 2 * m_limit / static_cast<double>(m_counts.size()); };
    const auto wanted = [&] { return std::floor((absMax - m_limit) / widthNow()) + 1; };
    while (absMax > m_limit && static_cast<double>(m_counts.size()) + 2 * wanted() > kMostBins)
        coarsen();
    if (absMax <= m_limit)
        return;
    const double width = widthNow();
    const auto more = static_cast<std::size_t>(wanted());
    m_counts.insert(m_counts.begin(), more, 0);
    m_counts.insert(m_counts.end(), more, 0);
    m_limit += static_cast<double>(more) * width;
}

void Histogram::coarsen()
{
    const double width = 2 * m_limit / static_cast<double>(m_counts.size());
    // An odd number of groups of three: 3, 9, 15, …
    const std::size_t padding = (9 - m_counts.size() % 6) % 6 / 2;
    m_counts.insert(m_counts.begin(), padding, 0);
    m_counts.insert(m_counts.end(), padding, 0);
    std::vector<std::uint64_t> merged(m_counts.size() / 3);
    for (std::size_t k = 0; k < merged.size(); ++k)
        merged[k] = m_counts[3 * k] + m_counts[3 * k + 1] + m_counts[3 * k + 2];
    m_counts = std::move(merged);
    m_limit = 1.5 * width * static_cast<double>(m_counts.size());
    m_isCoarsened = true;
}

} // namespace halftone::calibration
