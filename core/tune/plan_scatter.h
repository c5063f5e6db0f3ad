#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace halftone::tune {

/// By what factor the times of one network differ from plan to plan: by where buffers lie, and by what else the machine did just then.
/// All networks that were planned several times tell it together (a pooled variance of logarithms), since each of them has but a few plans.
class PlanScatter
{
public:
    /// Of one network, a median time of each plan, all above 0 and in one unit. A single plan tells nothing.
    void add(std::span<const double> medians);
    /// The mean of so many plans divided by this, and times this: between them lies the median of another plan, which another process
    /// makes, in 95 of 100 cases (Student's interval of prediction, Hahn 1969); nothing: no network was planned twice. At least
    /// 1 + latency::kPlacement.
    /// plans  1 or more
    std::optional<double> factorFor(std::size_t plans) const;

private:
    double m_squares = 0; ///< of distances from each network's mean
    std::size_t m_freedom = 0;
};

/// Student's t that 97.5 % lie below. freedom: 1 or more
double studentQuantile(std::size_t freedom);

} // namespace halftone::tune
