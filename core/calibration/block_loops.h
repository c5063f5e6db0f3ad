#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// The loops over values behind the collector, each compiled for the vector units there may be. They take at most
/// kMostValues values at a time, so that these stay in the nearest cache from one loop to the next.
namespace halftone::calibration {

inline constexpr std::size_t kMostValues = 2048;
inline constexpr std::size_t kExponentFields = 256; ///< values of float32's exponent field

/// What a look at each value tells. Of finite values, where nothing else is said.
struct ValueCounts
{
    float low = 0; ///< the largest float without any
    float high = 0; ///< the lowest float without any
    float smallest = 0; ///< least |x| > 0; the largest float without any
    std::uint32_t zeros = 0;
    std::uint32_t negatives = 0;
    std::uint32_t odd = 0; ///< NaN and infinite
    double sum = 0;
};

/// Sums of what a 16-bit format loses. Of finite values that stay finite, where nothing else is said.
struct LossSums
{
    std::uint64_t aboveMax = 0; ///< finite, beyond the format's largest number
    std::uint64_t overflow = 0; ///< finite values that become infinite
    std::uint64_t underflow = 0; ///< values other than zero that become zero
    std::uint64_t kept = 0;
    std::uint64_t relatives = 0; ///< kept values other than zero
    float maxAbs = 0;
    double maxRelative = 0;
    double relativeSum = 0;
    double signal = 0;
    double noise = 0;

    void add(const LossSums &block);
};

struct FormatLosses
{
    LossSums fp16;
    LossSums bf16;
};

ValueCounts countValues(std::span<const float> values);
/// Sum of squared distances of the finite values from `mean`.
double squaresAround(std::span<const float> values, double mean);
/// counts  what countValues() said of these values
FormatLosses formatLosses(std::span<const float> values, const ValueCounts &counts);
/// How many values have each exponent field: bits 23 to 30. That of zeros and subnormal numbers, 0, and that of NaN and
/// infinities, 255, are left at 0 unless a value is subnormal. counts  what countValues() said of these values
std::array<std::uint32_t, kExponentFields> countExponentFields(std::span<const float> values,
                                                               const ValueCounts &counts);

/// Bins [k·w, (k + 1)·w) of values, those other than bin 0 side by side: behind a ReLU half of all are in that one, and adding to one counter
/// over and over is slow.
struct BinsOfWidth
{
    std::size_t others = 0; ///< how many of `bins` are written
    std::uint32_t zeroth = 0; ///< in bin 0
    std::int32_t least = 0; ///< of all bins, bin 0 included where something is in it; 0 where there are none
    std::int32_t most = 0;
};

/// Of the finite values. perWidth  1 / w, a power of two: no product is rounded
/// bins    room for as many as there are values
BinsOfWidth binsOfWidth(std::span<const float> values, double perWidth, std::int32_t *bins);

} // namespace halftone::calibration
