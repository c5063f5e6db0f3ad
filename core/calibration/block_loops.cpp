#include "core/calibration/block_loops.h"

#include "core/base/vector_loops.h"

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
constexpr std::uint32_t kSmallestNormal = 0x00800000U;

#define HALFTONE_INLINE [[gnu::always_inline]] inline

HALFTONE_INLINE std::uint32_t magnitudeOf(float value)
{
    return std::bit_cast<std::uint32_t>(value) & kMagnitude;
}

struct PlaceInBins
{
    /// NaN and infinities go to bin 0, and are `odd`.
    HALFTONE_INLINE static BinsOfWidth run(const float *values, std::size_t size, double perWidth,
                                           std::int32_t *bins)
    {
        std::int32_t least = std::numeric_limits<std::int32_t>::max();
        std::int32_t most = std::numeric_limits<std::int32_t>::min();
        std::uint32_t zeroth = 0;
        std::uint32_t odd = 0;
#pragma omp simd reduction(min : least) reduction(max : most) reduction(+ : zeroth, odd)
        for (std::size_t i = 0; i < size; ++i) {
            const bool isKept = magnitudeOf(values[i]) < kInfinity;
            const double place = double{isKept ? values[i] : 0.0F} * perWidth;
            const auto towardsZero = static_cast<std::int32_t>(place);
            const std::int32_t bin = towardsZero - (place < towardsZero ? 1 : 0);
            bins[i] = bin;
            least = bin < least ? bin : least;
            most = bin > most ? bin : most;
            zeroth += bin == 0 ? 1U : 0U;
            odd += isKept ? 0U : 1U;
        }
        std::size_t others = 0;
        for (std::size_t i = 0; i < size; ++i) {
            const std::int32_t bin = bins[i];
            bins[others] = bin;
            others += bin != 0 ? 1 : 0;
        }
        BinsOfWidth result{others, zeroth - odd, least, most};
        if (result.zeroth == 0 && odd > 0) { // those of the others alone
            const auto [first, last] = std::minmax_element(bins, bins + others);
            result.least = others > 0 ? *first : 0;
            result.most = others > 0 ? *last : 0;
        }
        return result;
    }
};

struct CountValues
{
    HALFTONE_INLINE static ValueCounts run(const float *values, std::size_t size)
    {
        float low = kLargest;
        float high = -kLargest;
        std::uint32_t largest = 0;
        std::uint32_t least = ~std::uint32_t{0}; // magnitude less one: zero is the largest then
        std::uint32_t zeros = 0;
        std::uint32_t negatives = 0;
        double sum = 0;
#pragma omp simd reduction(min : low, least) reduction(max : high, largest) reduction(+ : zeros, negatives, sum)
        for (std::size_t i = 0; i < size; ++i) {
            const float value = values[i];
            const std::uint32_t magnitude = magnitudeOf(value);
            largest = magnitude > largest ? magnitude : largest;
            least = magnitude - 1 < least ? magnitude - 1 : least;
            low = value < low ? value : low;
            high = value > high ? value : high;
            zeros += magnitude == 0 ? 1U : 0U;
            negatives += value < 0 ? 1U : 0U;
            sum += double{value};
        }
        if (largest >= kInfinity)
            return ofFinite(values, size);
        const float smallest = least < kInfinity ? std::bit_cast<float>(least + 1) : kLargest;
        return {low, high, smallest, zeros, negatives, 0, sum};
    }

private:
    /// Where some are NaN or infinite.
    HALFTONE_INLINE static ValueCounts ofFinite(const float *values, std::size_t size)
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
        constexpr std::uint32_t kSmallestHalf = 0x38800000U; // 2^-14
        const std::uint32_t normal = (magnitude + 0xFFFU + (magnitude >> 13 & 1U)) & ~0x1FFFU;
        // Below, float16 has steps of 2^-24, and so has float32 above one half.
        const float subnormal = (std::bit_cast<float>(magnitude) + 0.5F) - 0.5F;
        return magnitude < kSmallestHalf ? subnormal : std::bit_cast<float>(normal);
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
HALFTONE_INLINE LossSums countsOf(const float *values, std::size_t size, const ValueCounts &counts)
{
    const float largest = counts.high > -counts.low ? counts.high : -counts.low;
    if (magnitudeOf(largest) > Rule::kLargestBits || magnitudeOf(counts.smallest) <= Rule::kUnderflowBits)
        return countLosses<Rule>(values, size);
    LossSums sums;
    sums.kept = size - counts.odd;
    sums.relatives = sums.kept - counts.zeros;
    return sums;
}

/// Are all values kept by both formats, and none subnormal in float32? So it is in nearly every block, and its loop has
/// half the work.
HALFTONE_INLINE bool areAllKept(const ValueCounts &counts)
{
    const float largest = counts.high > -counts.low ? counts.high : -counts.low;
    return counts.odd == 0 && magnitudeOf(largest) < Float16Rule::kOverflowBits
        && magnitudeOf(counts.smallest) >= kSmallestNormal;
}

/// Both formats at once: they share a value's inverse, and mostly its square.
struct LossesOfFormats
{
    HALFTONE_INLINE static FormatLosses run(const float *values, std::size_t size, const ValueCounts &counts)
    {
        FormatLosses losses{countsOf<Float16Rule>(values, size, counts),
                            countsOf<BFloat16Rule>(values, size, counts)};
        if (areAllKept(counts))
            addErrors<true>(values, size, losses);
        else
            addErrors<false>(values, size, losses);
        losses.fp16.signal
            = losses.fp16.kept == losses.bf16.kept ? losses.bf16.signal : keptSquares(values, size);
        return losses;
    }

private:
    /// All but float16's signal.
    template <bool areKept>
    HALFTONE_INLINE static void addErrors(const float *values, std::size_t size, FormatLosses &losses)
    {
        // In place of zero, whose errors are zeros; a subnormal number would be slow.
        constexpr std::uint32_t kLeast = areKept ? kSmallestNormal : 1;
        float maxAbs = 0;
        float maxAbsB = 0;
        double maxRelative = 0;
        double maxRelativeB = 0;
        double relativeSum = 0;
        double relativeSumB = 0;
        double noise = 0;
        double noiseB = 0;
        double signal = 0; // of what bfloat16 keeps, and so nearly always float16
#pragma omp simd reduction(+ : relativeSum, relativeSumB, noise, noiseB, signal)                                      \
    reduction(max : maxAbs, maxAbsB, maxRelative, maxRelativeB)
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t magnitude = magnitudeOf(values[i]);
            const std::uint32_t keptB = areKept || magnitude < BFloat16Rule::kOverflowBits ? magnitude : 0;
            const std::uint32_t kept = areKept || magnitude < Float16Rule::kOverflowBits ? magnitude : 0;
            const float value = std::bit_cast<float>(keptB);
            // Exact: at most 24 bits.
            const float error = std::abs(Float16Rule::rounded(kept) - std::bit_cast<float>(kept));
            const float errorB = std::abs(BFloat16Rule::rounded(keptB) - value);
            const double inverse = 1 / double{std::bit_cast<float>(keptB > kLeast ? keptB : kLeast)};
            const double relative = double{error} * inverse;
            const double relativeB = double{errorB} * inverse;
            maxAbs = error > maxAbs ? error : maxAbs;
            maxAbsB = errorB > maxAbsB ? errorB : maxAbsB;
            maxRelative = relative > maxRelative ? relative : maxRelative;
            maxRelativeB = relativeB > maxRelativeB ? relativeB : maxRelativeB;
            relativeSum += relative;
            relativeSumB += relativeB;
            signal += double{value} * double{value};
            noise += double{error} * double{error};
            noiseB += double{errorB} * double{errorB};
        }
        losses.fp16.maxAbs = maxAbs;
        losses.fp16.maxRelative = maxRelative;
        losses.fp16.relativeSum = relativeSum;
        losses.fp16.noise = noise;
        losses.bf16.maxAbs = maxAbsB;
        losses.bf16.maxRelative = maxRelativeB;
        losses.bf16.relativeSum = relativeSumB;
        losses.bf16.noise = noiseB;
        losses.bf16.signal = signal;
    }

    /// Of what float16 keeps.
    HALFTONE_INLINE static double keptSquares(const float *values, std::size_t size)
    {
        double signal = 0;
#pragma omp simd reduction(+ : signal)
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t magnitude = magnitudeOf(values[i]);
            const float value = std::bit_cast<float>(magnitude < Float16Rule::kOverflowBits ? magnitude : 0);
            signal += double{value} * double{value};
        }
        return signal;
    }
};

/// Field after field, all values at once: where the fields are few, as they are in most blocks, that is faster than adding
/// to a counter for each value.
struct CountFields
{
    static constexpr std::size_t kLanes = 64;

    HALFTONE_INLINE static void run(const float *values, std::size_t size, std::uint32_t first,
                                    std::uint32_t last, std::uint32_t *counts)
    {
        std::array<std::uint8_t, kMostValues> fields;
#pragma omp simd
        for (std::size_t i = 0; i < size; ++i)
            fields[i] = static_cast<std::uint8_t>(magnitudeOf(values[i]) >> 23);
        const std::size_t whole = (size + kLanes - 1) / kLanes * kLanes;
        for (std::size_t i = size; i < whole; ++i)
            fields[i] = kInfinity >> 23; // which is not counted
        for (std::uint32_t field = first; field <= last; ++field) {
            const auto wanted = static_cast<std::uint8_t>(field);
            std::array<std::uint8_t, kLanes> lanes{}; // at most kMostValues / kLanes each
            for (std::size_t i = 0; i < whole; i += kLanes) {
#pragma omp simd
                for (std::size_t l = 0; l < kLanes; ++l)
                    lanes[l] = static_cast<std::uint8_t>(lanes[l] + (fields[i + l] == wanted ? 1 : 0));
            }
            std::uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
            for (std::size_t l = 0; l < kLanes; ++l)
                sum += lanes[l];
            counts[field] = sum;
        }
    }
};

std::array<std::uint32_t, kExponentFields> countEachField(std::span<const float> values)
{
    // Neighbours often have the same exponent: counters of their own need not wait for one another.
    constexpr std::size_t kTables = 4;
    std::array<std::array<std::uint32_t, kExponentFields>, kTables> tables{};
    for (std::size_t i = 0; i < values.size(); ++i)
        ++tables[i % kTables][magnitudeOf(values[i]) >> 23];
    std::array<std::uint32_t, kExponentFields> counts{};
    for (const auto &table : tables) {
        for (std::size_t field = 0; field < kExponentFields; ++field)
            counts[field] += table[field];
    }
    return counts;
}

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

std::array<std::uint32_t, kExponentFields> countExponentFields(std::span<const float> values,
                                                               const ValueCounts &counts)
{
    constexpr std::uint32_t kFewFields = 48;
    const std::uint32_t first = magnitudeOf(counts.smallest) >> 23;
    const std::uint32_t last = std::max(magnitudeOf(counts.low), magnitudeOf(counts.high)) >> 23;
    std::array<std::uint32_t, kExponentFields> fields{};
    if (counts.zeros + counts.odd == values.size())
        return fields;
    if (first == 0 || last - first >= kFewFields)
        return countEachField(values);
    runFastest<CountFields>(values.data(), values.size(), first, last, fields.data());
    return fields;
}

BinsOfWidth binsOfWidth(std::span<const float> values, double perWidth, std::int32_t *bins)
{
    return values.empty() ? BinsOfWidth()
                          : runFastest<PlaceInBins>(values.data(), values.size(), perWidth, bins);
}

} // namespace halftone::calibration
