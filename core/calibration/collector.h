#pragma once

#include "core/calibration/block_loops.h"
#include "core/calibration/histogram.h"
#include "core/tensor/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone::calibration {

/// Counts of floor(log2|x|) of finite values other than zero, from kLowest to kLowest + size - 1.
struct ExponentCounts
{
    static constexpr int kLowest = -149;
    static constexpr int kHighest = 127;
    std::array<std::uint64_t, kHighest - kLowest + 1> counts{};

    std::uint64_t at(int exponent) const { return counts[static_cast<std::size_t>(exponent - kLowest)]; }
};

/// What storing the values in a 16-bit format does to them. Errors are over finite values that stay finite, the relative
/// ones over those that are not zero.
struct FormatLoss
{
    std::uint64_t aboveMax = 0; ///< finite, |x| above the format's largest number
    std::uint64_t overflow = 0; ///< finite values that become infinite
    std::uint64_t subnormal = 0; ///< 0 < |x| < smallest normal number
    std::uint64_t underflow = 0; ///< values other than zero that become zero
    double maxRelative = 0;
    double meanRelative = 0;
    double rms = 0;
    double maxAbs = 0;
    double sqnrDb = 0; ///< infinite without an error
    double ulpAtAbsMax = 0; ///< the format's spacing at the largest |x|; 0 for zeros
};

/// All that is known of the values of one tensor (core/quantize/RULES.md, Q-statistics).
struct TensorStatistics
{
    std::uint64_t count = 0;
    std::uint64_t nan = 0;
    std::uint64_t positiveInfinite = 0;
    std::uint64_t negativeInfinite = 0;
    std::uint64_t zeros = 0;
    std::uint64_t negatives = 0;
    /// Of the finite values; 0 without any.
    double min = 0;
    double max = 0;
    double absMax = 0;
    double mean = 0;
    double deviation = 0; ///< standard deviation of the population
    double smallestNonZero = 0; ///< least |x| > 0; 0 without any
    ExponentCounts exponents;
    FormatLoss fp16;
    FormatLoss bf16;
    Histogram histogram;

    /// In bfloat16, or else in float16.
    const FormatLoss &loss(tensor::DType type) const { return type == tensor::DType::BF16 ? bf16 : fp16; }
    std::uint64_t finite() const { return count - nan - positiveInfinite - negativeInfinite; }
};

/// How much is collected.
enum class Detail
{
    Ranges, ///< counts, range and histogram
    Formats, ///< also moments, exponents and what 16-bit formats lose
};

/// Counts and sums over values, all but the histogram.
struct Tally
{
    std::uint64_t count = 0;
    std::uint64_t nan = 0;
    std::uint64_t positiveInfinite = 0;
    std::uint64_t negativeInfinite = 0;
    std::uint64_t zeros = 0;
    std::uint64_t negatives = 0;
    float min = 0;
    float max = 0;
    bool hasFinite = false;
    float smallest = 0; ///< least |x| > 0; 0 without any
    std::uint64_t moments = 0; ///< values in the next two
    double mean = 0;
    double squares = 0; ///< of the distances from the mean
    ExponentCounts exponents;
    LossSums fp16;
    LossSums bf16;

    /// Gives the largest finite |x|, or 0.
    float add(std::span<const float> values, Detail detail);
    /// Counts, range and exponents of others. Sums and moments stay as they are.
    void addCounts(const Tally &other);
    TensorStatistics statistics() const; ///< without a histogram

private:
    float addBlock(std::span<const float> values, Detail detail);
    void countOddities(std::span<const float> values);
    void countExponents(std::span<const float> values, const ValueCounts &counts);
    void addMoments(std::span<const float> values, const ValueCounts &counts, const LossSums &losses);
    FormatLoss lossOf(const LossSums &losses, int smallestNormal, int mantissaBits) const;
};

/// Collects the statistics of one tensor in one pass over its batches, as MXNet does: the first batch settles the histogram's
/// range, so that the result depends on how the examples fall into batches (MergingCollector's does not). Some 70 kB, however
/// many values there are.
class Collector
{
public:
    explicit Collector(Detail detail = Detail::Formats)
        : m_detail(detail)
    {
    }

    void add(std::span<const float> values) { m_histogram.add(values, m_tally.add(values, m_detail)); }
    TensorStatistics statistics() const;

private:
    Detail m_detail;
    Tally m_tally;
    Histogram m_histogram;
};

/// Ranges of the slices of an array along one axis.
struct ChannelRange
{
    float min = 0; ///< of the finite values; 0 without any
    float max = 0;
};

/// Needs: as many values as the product of `before`, `channels` and `after`, the axes before the channel axis,
/// the axis itself and those after it.
std::vector<ChannelRange> channelRanges(std::span<const float> values, std::size_t before,
                                        std::size_t channels, std::size_t after);

} // namespace halftone::calibration
