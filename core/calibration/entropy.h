#pragma once

#include "core/calibration/histogram.h"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

namespace halftone::calibration {

/// Levels that MXNet's search spreads a signed range over, and a range from zero on.
inline constexpr std::size_t kSignedLevels = 255;
inline constexpr std::size_t kUnsignedLevels = 511;

/// What the search found.
struct EntropyChoice
{
    std::size_t candidate = 0; ///< bins on either side of the middle one that the range keeps
    double threshold = 0; ///< upper edge of the last of them
    double divergence = 0; ///< Kullback–Leibler, of the clipped distribution from its quantized form
    bool isExact = true; ///< to the last bit what MXNet's float32 sums give; false beyond kExactBins
};

/// Beyond so many bins the float32 sums, which cost the square of their number, are not repeated.
inline constexpr std::size_t kExactBins = 65535;

/// The threshold of least divergence, as MXNet 1.9.1 defines it, its asymmetries included
/// (core/quantize/RULES.md, Q-entropy). All candidates are valued in double first, in time proportional to `levels` each, from running sums over
/// the bins; those that lie within what float32 could make of the least one are then valued again with MXNet's strictly
/// sequential float32 sums, which decide.
/// gives   nothing when no divergence is finite, for an empty histogram, and when stopped
std::optional<EntropyChoice> chooseByEntropy(const Histogram &histogram, std::size_t levels,
                                             const std::stop_token &stop = {});

/// Divergence against threshold, for a drawing: the candidates from levels / 2 on, valued in double.
struct DivergenceCurve
{
    std::size_t first = 0; ///< candidate of the first value
    std::vector<double> divergences; ///< infinite where not defined
};
DivergenceCurve divergenceCurve(const Histogram &histogram, std::size_t levels,
                                const std::stop_token &stop = {});

} // namespace halftone::calibration
