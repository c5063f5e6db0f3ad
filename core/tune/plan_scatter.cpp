#include "core/tune/plan_scatter.h"

#include "core/latency/latency.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace halftone::tune {

void PlanScatter::add(std::span<const double> medians)
{
    if (medians.size() < 2)
        return;
    double mean = 0;
    for (const double median : medians)
        mean += std::log(median) / static_cast<double>(medians.size());
    for (const double median : medians)
        m_squares += (std::log(median) - mean) * (std::log(median) - mean);
    m_freedom += medians.size() - 1;
}

std::optional<double> PlanScatter::factorFor(std::size_t plans) const
{
    if (m_freedom == 0)
        return std::nullopt;
    const double deviation = std::sqrt(m_squares / static_cast<double>(m_freedom));
    const double ofBoth = deviation * std::sqrt(1 + 1 / static_cast<double>(plans));
    return std::max(std::exp(studentQuantile(m_freedom) * ofBoth), 1 + latency::kPlacement);
}

double studentQuantile(std::size_t freedom)
{
    constexpr std::array kFirst{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    if (freedom <= kFirst.size())
        return kFirst[freedom - 1];
    // Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5
    constexpr double kZ = 1.959964;
    constexpr double kZ3 = kZ * kZ * kZ;
    constexpr double kZ5 = kZ3 * kZ * kZ;
    constexpr double kZ7 = kZ5 * kZ * kZ;
    const auto n = static_cast<double>(freedom);
    return kZ + (kZ3 + kZ) / (4 * n) + (5 * kZ5 + 16 * kZ3 + 3 * kZ) / (96 * n * n)
        + (3 * kZ7 + 19 * kZ5 + 17 * kZ3 - 15 * kZ) / (384 * n * n * n);
}

} // namespace halftone::tune
