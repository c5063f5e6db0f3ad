// The processor's time of this process, which neighbours on the same machine do not lengthen as they do the wall's.

#pragma once

#include <ctime>

namespace halftone::test {

class CpuClock
{
public:
    /// Milliseconds that all threads of this process computed since the clock was made.
    double elapsed() const { return 1000.0 * static_cast<double>(std::clock() - m_start) / CLOCKS_PER_SEC; }

private:
    std::clock_t m_start = std::clock();
};

/// A limit that holds for the plain build, as an instrumented one has it: compilers' manuals speak of two to four times.
constexpr double instrumented(double milliseconds)
{
#ifdef HALFTONE_SANITIZED
    return 4 * milliseconds;
#else
    return milliseconds;
#endif
}

} // namespace halftone::test
