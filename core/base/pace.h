#pragma once

#include <algorithm>
#include <chrono>

namespace halftone {

/// When a long call shows what it has so far: at once for the first time, then after pauses that grow with the time that went
/// by, so that a long wait is not made longer by telling of it.
class Pace
{
public:
    bool isDue()
    {
        const auto now = Clock::now();
        if (now < m_next)
            return false;
        m_next = now + std::clamp<Clock::duration>((now - m_begun) / 4, kLeast, kMost);
        return true;
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kLeast{200};
    static constexpr std::chrono::milliseconds kMost{2000};

    Clock::time_point m_begun = Clock::now();
    Clock::time_point m_next = m_begun;
};

} // namespace halftone
