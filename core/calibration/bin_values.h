#pragma once

#include "core/calibration/block_loops.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone::calibration {

/// Equal bins over [-limit, limit], an odd number; edges rounded to float32, as Histogram has them.
struct BinGrid
{
    double limit = 0;
    double width = 0;
    std::size_t bins = 0;
};

struct BinnedValues
{
    std::size_t outer = 0; ///< in other bins than that of zero
    std::size_t odd = 0; ///< NaN and infinities, in no bin
};

/// Writes the bins of those values that do not lie in the middle one, in any order, and counts the others. Needs: at most
/// kMostValues, finite ones within the limit; room for as many bins, and for kBinsAhead more.
BinnedValues outerBins(std::span<const float> values, const BinGrid &grid, std::uint32_t *bins);

inline constexpr std::size_t kBinsAhead = 16; ///< that may be written behind the last bin

} // namespace halftone::calibration
