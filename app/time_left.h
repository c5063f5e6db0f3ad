#pragma once

#include <algorithm>
#include <optional>

namespace halftone::app {

/// Seconds that a job still takes, told from the share that is done. Estimated with some to spare at first, and what is told
/// never grows: rather a while of no change than a person who waits in vain.
class TimeLeft
{
public:
    /// Negative: nothing to tell it from yet.
    double after(double seconds, double share)
    {
        if (share <= kLeastShare || seconds < kLeastSeconds)
            return m_told.value_or(-1);
        const double estimate = seconds * (1 - share) / share * (1 + kSpare * (1 - share));
        m_told = std::min(m_told.value_or(estimate), estimate);
        return *m_told;
    }

private:
    static constexpr double kLeastShare = 0.02;
    static constexpr double kLeastSeconds = 1;
    static constexpr double kSpare = 0.25;

    std::optional<double> m_told;
};

} // namespace halftone::app
