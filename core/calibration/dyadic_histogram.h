#pragma once

#include "core/calibration/histogram.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace halftone::calibration {

/// Counts of values in bins [k·w, (k + 1)·w), where w is a power of two that follows from the largest |x| alone: the least with
/// |x| < 2^13·w. A larger value doubles w, and pairs of bins become one without loss, so that the counts depend neither on the
/// order of the values nor on how they were grouped: two histograms add up to that of all values (core/quantize/RULES.md, Q-dyadic).
class DyadicHistogram
{
public:
    static constexpr int kBinBits = 13; ///< 2^13 bins a side at most
    static constexpr int kNoScale = std::numeric_limits<int>::min();
    static constexpr int kLowestScale = -149; ///< of float32's least number
    static constexpr int kHighestScale = 127 + 1 - kBinBits;

    /// NaN and infinities are left out. `absMax`: the largest finite |x| among them.
    void add(std::span<const float> values, float absMax);
    void add(const DyadicHistogram &other);

    /// In bins of 2·w, of which the middle one is centred on zero.
    Histogram histogram() const;

    /// The whole state.
    struct Parts
    {
        int scale = kNoScale; ///< w = 2^scale; kNoScale while all values were zero
        std::uint64_t zerosBefore = 0; ///< while there is no scale
        std::int32_t first = 0; ///< k of the first count
        std::vector<std::uint64_t> counts; ///< neither the first nor the last is 0

        bool operator==(const Parts &) const = default;
    };
    Parts parts() const;
    /// False, and nothing changed, for what no histogram has.
    bool takeParts(Parts parts);

private:
    /// Up to so many values are kept as they are: a deep network has tens of thousands of tensors, and bins take more memory.
    static constexpr std::size_t kMostFew = 128;

    static int scaleFor(float absMax);
    bool hasOnlyFew() const { return m_scale == kNoScale && m_zerosBefore == 0; }
    void count(std::span<const float> values, float absMax);
    void countFew();
    void rescale(int scale);
    void cover(std::int32_t first, std::int32_t last);
    std::uint64_t &at(std::int32_t bin) { return m_counts[static_cast<std::size_t>(bin - m_first)]; }

    int m_scale = kNoScale;
    std::int32_t m_first = 0;
    std::vector<std::uint64_t> m_counts;
    std::uint64_t m_zerosBefore = 0;
    std::vector<float> m_few; ///< all values so far; empty once they are counted
};

} // namespace halftone::calibration
