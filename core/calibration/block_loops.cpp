#include "core/calibration/block_loops.h"

#include "core/calibration/vector_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

// Sums are told to the compiler as reductions (OpenMP's `simd`, no threads), so that it may add lanes side by side.

namespace halftone::calibration {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;

#define HALFTONE_INLINE [[gnu::always_inline]] inline

HALFTONE_INLINE std::uint32_t magnitudeOf(float value)
{
    return std::bit_cast<std::uint32_t>(value) & kMagnitude;
}

struct CountValues
{
    HALFTONE_INLINE static ValueCounts run(const float *values, std::size_t size)
    {
        float low = kLargest;
        float high = -kLargest;
        float smallest = kLargest;
        std::uint32_t zeros = 0;
        std::uint32_t negatives = 0;
        std::uint32_t odd = 0;
#pragma omp simd reduction(min : low, smallest) reduction(max : high) reduction(+ : zeros, negatives, odd)
        for (std::size_t i = 0; i < size; ++i) {
            const float value = values[i];
            const float magnitude = std::abs(value);
            const bool isFinite = magnitude <= kLargest;
            const float lowest = isFinite ? value : kLargest;
            const float highest = isFinite ? value : -kLargest;
            const float least = magnitude > 0 ? magnitude : kLargest; // an infinity is not less
            odd += isFinite ? 0U : 1U;
            zeros += magnitude == 0 ? 1U : 0U;
            negatives += isFinite && value < 0 ? 1U : 0U;
            low = lowest < low ? lowest : low;
            high = highest > high ? highest : high;
            smallest = least < smallest ? least : smallest;
        }
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::size_t i = 0; i < size; ++i)
            sum += std::abs(values[i]) <= kLargest ? double{values[i]} : 0;
        return {low, high, smallest, zeros, negatives, odd, sum};
    }
};

struct SquaresAround
{
    HALFTONE_INLINE static double run(const float *values, std::size_t size, double mean)
    {
        double squares = 0;
#pragma omp simd reduction(+ : squares)
        for (std::size_t i = 0; i < size; ++i) {
            const double distance = std::abs(values[i]) <= kLargest ? double{values[i]} - mean : 0;
            squares += distance * distance;
        }
        return squares;
    }
};

/// Rounding to the nearest, ties to even, on magnitudes: the bits of finite float32 values without their sign.
struct Float16Rule
{
    static constexpr std::uint32_t kLargestBits = 0x477FE000U; ///< 65504
    static constexpr std::uint32_t kOverflowBits
        = 0x477FF000U; ///< 65520: the tie, whose even neighbour is infinity
    static constexpr std::uint32_t kUnderflowBits
        = 0x33000000U; ///< 2^-25: the tie, whose even neighbour is zero

    HALFTONE_INLINE static float rounded(std::uint32_t magnitude)
    {
        constexpr std::uint32_t kSmallestNormal = 0x38800000U; // 2^-14
        const std::uint32_t normal = (magnitude + 0xFFFU + (magnitude >> 13 & 1U)) & ~0x1FFFU;
        // Below, float16 has steps of 2^-24, and so has float32 above one half.
        const float subnormal = (std::bit_cast<float>(magnitude) + 0.5F) - 0.5F;
        return magnitude < kSmallestNormal ? subnormal : std::bit_cast<float>(normal);
    }
};

struct BFloat16Rule
{
    static constexpr std::uint32_t kLargestBits = 0x7F7F0000U;
    static constexpr std::uint32_t kOverflowBits = 0x7F7F8000U;
    static constexpr std::uint32_t kUnderflowBits = 0x00008000U;

    HALFTONE_INLINE static float rounded(std::uint32_t magnitude)
    {
        return std::bit_cast<float>((magnitude + 0x7FFFU + (magnitude >> 16 & 1U)) & ~0xFFFFU);
    }
};

/// What is counted; for blocks that hold values a format cannot hold.
template <class Rule>
HALFTONE_INLINE LossSums countLosses(const float *values, std::size_t size)
{
    std::uint32_t aboveMax = 0;
    std::uint32_t overflow = 0;
    std::uint32_t underflow = 0;
    std::uint32_t kept = 0;
    std::uint32_t relatives = 0;
#pragma omp simd reduction(+ : aboveMax, overflow, underflow, kept, relatives)
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t magnitude = magnitudeOf(values[i]);
        const bool isFinite = magnitude < kInfinity;
        const bool isKept = magnitude < Rule::kOverflowBits;
        aboveMax += isFinite && magnitude > Rule::kLargestBits ? 1U : 0U;
        overflow += isFinite && !isKept ? 1U : 0U;
        underflow += magnitude > 0 && magnitude <= Rule::kUnderflowBits ? 1U : 0U;
        kept += isKept ? 1U : 0U;
        relatives += isKept && magnitude > 0 ? 1U : 0U;
    }
    LossSums sums;
    sums.aboveMax = aboveMax;
    sums.overflow = overflow;
    sums.underflow = underflow;
    sums.kept = kept;
    sums.relatives = relatives;
    return sums;
}

template <class Rule>
HALFTONE_INLINE LossSums lossesBy(const float *values, std::size_t size, const double *inverses,
                                  const ValueCounts &counts)
{
    const float largest = counts.high > -counts.low ? counts.high : -counts.low;
    LossSums sums;
    if (magnitudeOf(largest) > Rule::kLargestBits || magnitudeOf(counts.smallest) <= Rule::kUnderflowBits) {
        sums = countLosses<Rule>(values, size);
    } else {
        sums.kept = size - counts.odd;
        sums.relatives = sums.kept - counts.zeros;
    }
    float maxAbs = 0;
    double maxRelative = 0;
    double relativeSum = 0;
    double signal = 0;
    double noise = 0;
#pragma omp simd reduction(+ : relativeSum, signal, noise) reduction(max : maxAbs, maxRelative)
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t magnitude = magnitudeOf(values[i]);
        const std::uint32_t kept = magnitude < Rule::kOverflowBits ? magnitude : 0;
        const float value = std::bit_cast<float>(kept);
        const float error = std::abs(Rule::rounded(kept) - value); // exact: at most 24 bits
        const double relative = double{error} * inverses[i];
        maxAbs = error > maxAbs ? error : maxAbs;
        maxRelative = relative > maxRelative ? relative : maxRelative;
        relativeSum += relative;
        signal += double{value} * double{value};
        noise += double{error} * double{error};
    }
    sums.maxAbs = maxAbs;
    sums.maxRelative = maxRelative;
    sums.relativeSum = relativeSum;
    sums.signal = signal;
    sums.noise = noise;
    return sums;
}

/// 1 / x within 1e-14, by Newton's iteration from a difference of exponents: a division of doubles takes several times as
/// long as all of these multiplications.
HALFTONE_INLINE double inverseOf(double x)
{
    constexpr std::uint64_t kGuess = 0x7FDE623822FC16E6U; // leaves 12 %
    double y = std::bit_cast<double>(kGuess - std::bit_cast<std::uint64_t>(x));
    for (int step = 0; step < 4; ++step)
        y = y * (2 - x * y);
    return y;
}

struct LossesOfFormats
{
    HALFTONE_INLINE static FormatLosses run(const float *values, std::size_t size, const ValueCounts &counts)
    {
        std::array<double, kMostValues> inverses;
#pragma omp simd
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t magnitude = magnitudeOf(values[i]);
            const bool isRelative = magnitude > 0 && magnitude < kInfinity;
            const double inverse = inverseOf(std::bit_cast<float>(isRelative ? magnitude : 0x3F800000U));
            inverses[i] = isRelative ? inverse : 0;
        }
        return {lossesBy<Float16Rule>(values, size, inverses.data(), counts),
                lossesBy<BFloat16Rule>(values, size, inverses.data(), counts)};
    }
};

struct ExponentFields
{
    HALFTONE_INLINE static void run(const float *values, std::size_t size, std::uint8_t *fields)
    {
#pragma omp simd
        for (std::size_t i = 0; i < size; ++i)
            fields[i] = static_cast<std::uint8_t>(magnitudeOf(values[i]) >> 23);
    }
};

#undef HALFTONE_INLINE

} // namespace

void LossSums::add(const LossSums &block)
{
    aboveMax += block.aboveMax;
    overflow += block.overflow;
    underflow += block.underflow;
    relatives += block.relatives;
    kept += block.kept;
    relativeSum += block.relativeSum;
    maxRelative = std::max(maxRelative, block.maxRelative);
    maxAbs = std::max(maxAbs, block.maxAbs);
    signal += block.signal;
    noise += block.noise;
}

ValueCounts countValues(std::span<const float> values)
{
    return runFastest<CountValues>(values.data(), values.size());
}

double squaresAround(std::span<const float> values, double mean)
{
    return runFastest<SquaresAround>(values.data(), values.size(), mean);
}

FormatLosses formatLosses(std::span<const float> values, const ValueCounts &counts)
{
    return runFastest<LossesOfFormats>(values.data(), values.size(), counts);
}

void exponentFields(std::span<const float> values, std::span<std::uint8_t> fields)
{
    runFastest<ExponentFields>(values.data(), values.size(), fields.data());
}

} // namespace halftone::calibration
