#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::calibration {

/// Counts of values in equal bins over [-limit, limit], whose number is odd, so that one bin is centred on zero. Grows as
/// MXNet's calibration does (spec: calibration-int8, section 4.1): bins of the same width are added on both sides.
class Histogram
{
public:
    static constexpr std::size_t kFirstBins = 8001;
    /// Where growing would need more, three bins become one first. MXNet's own result is kept up to here.
    static constexpr std::size_t kMostBins = 65535;

    /// NaN and infinities are left out. `absMax`: the largest finite |x| among them. Zeros that come before anything
    /// else are kept in mind and counted once a range is known.
    void add(std::span<const float> values, float absMax);

    /// 0 until a value other than zero was added; there are no bins then.
    double limit() const { return m_limit; }
    std::span<const std::uint64_t> counts() const { return m_counts; }
    std::uint64_t zerosBefore() const { return m_zerosBefore; } ///< while limit() is 0
    bool isCoarsened() const { return m_isCoarsened; }

private:
    void grow(double absMax);
    void coarsen();

    double m_limit = 0;
    std::vector<std::uint64_t> m_counts;
    std::uint64_t m_zerosBefore = 0;
    bool m_isCoarsened = false;
};

} // namespace halftone::calibration
