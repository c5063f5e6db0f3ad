#include "core/calibration/collector.h"

#include "core/tensor/float16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace halftone::calibration {
namespace {

constexpr float kLargestFloat = std::numeric_limits<float>::max();
constexpr std::size_t kInfiniteField = kExponentFields - 1;

} // namespace

float Tally::add(std::span<const float> values, Detail detail)
{
    float absMax = 0;
    for (std::size_t at = 0; at < values.size(); at += kMostValues)
        absMax = std::max(absMax,
                          addBlock(values.subspan(at, std::min(kMostValues, values.size() - at)), detail));
    count += values.size();
    return absMax;
}

float Tally::addBlock(std::span<const float> values, Detail detail)
{
    const ValueCounts counts = countValues(values);
    zeros += counts.zeros;
    negatives += counts.negatives;
    if (counts.odd > 0)
        countOddities(values);
    if (counts.odd == values.size())
        return 0;
    const float absMax = std::max(std::abs(counts.low), std::abs(counts.high));
    min = hasFinite ? std::min(min, counts.low) : counts.low;
    max = hasFinite ? std::max(max, counts.high) : counts.high;
    hasFinite = true;
    if (counts.odd + counts.zeros < values.size())
        smallest = smallest == 0 ? counts.smallest : std::min(smallest, counts.smallest);
    if (detail == Detail::Ranges)
        return absMax;
    countExponents(values, counts);
    const FormatLosses losses = formatLosses(values, counts);
    addMoments(values, counts, losses.bf16);
    fp16.add(losses.fp16);
    bf16.add(losses.bf16);
    return absMax;
}

void Tally::addCounts(const Tally &other)
{
    count += other.count;
    nan += other.nan;
    positiveInfinite += other.positiveInfinite;
    negativeInfinite += other.negativeInfinite;
    zeros += other.zeros;
    negatives += other.negatives;
    if (other.hasFinite) {
        // Of 0 and -0 always the same, whichever comes first.
        min = (hasFinite ? std::min(min, other.min) : other.min) + 0.0F;
        max = (hasFinite ? std::max(max, other.max) : other.max) + 0.0F;
        hasFinite = true;
    }
    if (other.smallest > 0)
        smallest = smallest == 0 ? other.smallest : std::min(smallest, other.smallest);
    for (std::size_t k = 0; k < exponents.counts.size(); ++k)
        exponents.counts[k] += other.exponents.counts[k];
}

void Tally::countOddities(std::span<const float> values)
{
    for (const float value : values) {
        nan += std::isnan(value) ? 1 : 0;
        positiveInfinite += std::isinf(value) && value > 0 ? 1 : 0;
        negativeInfinite += std::isinf(value) && value < 0 ? 1 : 0;
    }
}

void Tally::countExponents(std::span<const float> values, const ValueCounts &counts)
{
    const auto fields = countExponentFields(values, counts);
    for (std::size_t field = 1; field < kInfiniteField; ++field)
        exponents.counts[field - 127 - static_cast<std::size_t>(ExponentCounts::kLowest)] += fields[field];
    if (fields[0] == 0)
        return;
    for (const float value : values) {
        // A subnormal number is its mantissa times 2^-149.
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
        if (magnitude > 0 && magnitude < 1U << 23)
            ++exponents.counts[static_cast<std::size_t>(std::bit_width(magnitude) - 1)];
    }
}

/// Blocks are joined as in Chan, Golub and LeVeque (1983): no difference of sums that are nearly equal, which would lose a
/// spread that is small beside the mean.
void Tally::addMoments(std::span<const float> values, const ValueCounts &counts, const LossSums &losses)
{
    const std::size_t finite = values.size() - counts.odd;
    const auto blockCount = static_cast<double>(finite);
    const double blockMean = counts.sum / blockCount;
    // Known from the sum of all squares where the mean takes little of it away, which is nearly everywhere.
    constexpr double kMuch = 0.99;
    const double ofMean = blockMean * blockMean * blockCount;
    const bool isKnown = losses.kept == finite && ofMean < kMuch * losses.signal;
    const double around = isKnown ? losses.signal - ofMean : squaresAround(values, blockMean);
    const auto before = static_cast<double>(moments);
    const double shift = blockMean - mean;
    moments += finite;
    const auto all = static_cast<double>(moments);
    mean += shift * blockCount / all;
    squares += around + shift * shift * before * blockCount / all;
}

FormatLoss Tally::lossOf(const LossSums &losses, int smallestNormal, int mantissaBits) const
{
    FormatLoss loss;
    loss.aboveMax = losses.aboveMax;
    loss.overflow = losses.overflow;
    loss.underflow = losses.underflow;
    for (int exponent = ExponentCounts::kLowest; exponent < smallestNormal; ++exponent)
        loss.subnormal += exponents.at(exponent);
    loss.maxRelative = losses.maxRelative;
    loss.maxAbs = double{losses.maxAbs};
    if (losses.relatives > 0)
        loss.meanRelative = losses.relativeSum / static_cast<double>(losses.relatives);
    if (losses.kept > 0)
        loss.rms = std::sqrt(losses.noise / static_cast<double>(losses.kept));
    loss.sqnrDb = losses.noise > 0 ? 10 * std::log10(losses.signal / losses.noise)
                                   : std::numeric_limits<double>::infinity();
    if (const float absMax = std::max(std::abs(min), std::abs(max)); absMax > 0)
        loss.ulpAtAbsMax = std::ldexp(1.0, std::max(std::ilogb(absMax), smallestNormal) - mantissaBits);
    return loss;
}

TensorStatistics Collector::statistics() const
{
    TensorStatistics result = m_tally.statistics();
    result.histogram = m_histogram;
    result.histogram.pack();
    return result;
}

TensorStatistics Tally::statistics() const
{
    TensorStatistics result;
    result.count = count;
    result.nan = nan;
    result.positiveInfinite = positiveInfinite;
    result.negativeInfinite = negativeInfinite;
    result.zeros = zeros;
    result.negatives = negatives;
    result.min = min;
    result.max = max;
    result.absMax = std::max(std::abs(min), std::abs(max));
    result.mean = mean;
    result.deviation = moments > 0 ? std::sqrt(squares / static_cast<double>(moments)) : 0;
    result.smallestNonZero = smallest;
    result.exponents = exponents;
    result.fp16 = lossOf(fp16, -14, tensor::Float16::kMantissaBits);
    result.bf16 = lossOf(bf16, -126, tensor::BFloat16::kMantissaBits);
    return result;
}

std::vector<ChannelRange> channelRanges(std::span<const float> values, std::size_t before,
                                        std::size_t channels, std::size_t after)
{
    std::vector<ChannelRange> ranges(channels);
    for (std::size_t c = 0; c < channels; ++c) {
        float low = std::numeric_limits<float>::infinity();
        float high = -low;
        for (std::size_t b = 0; b < before; ++b) {
            for (const float value : values.subspan((b * channels + c) * after, after)) {
                const bool isFinite = std::abs(value) <= kLargestFloat;
                low = isFinite && value < low ? value : low;
                high = isFinite && value > high ? value : high;
            }
        }
        if (low <= high)
            ranges[c] = {low, high};
    }
    return ranges;
}

} // namespace halftone::calibration
