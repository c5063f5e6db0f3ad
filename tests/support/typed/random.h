#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace halftone::test {

/// Draws that are the same on every platform (the standard's distributions are not).
class Random
{
public:
    explicit Random(std::uint64_t seed)
        : m_engine(seed)
    {
    }
    /// 0 to count - 1. Needs: count > 0.
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(m_engine() % count); }
    bool chance(unsigned percent) { return m_engine() % 100 < percent; }
    template <class Range>
    const auto &oneOf(const Range &range)
    {
        return *(std::begin(range) + static_cast<std::ptrdiff_t>(below(std::size(range))));
    }

private:
    std::mt19937_64 m_engine;
};

} // namespace halftone::test
