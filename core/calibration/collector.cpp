#include "core/calibration/collector.h"

#include "core/tensor/float16.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace halftone::calibration {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr std::size_t kInfiniteField = kExponentFields - 1;

} // namespace

void Collector::add(std::span<const float> values)
{
    float absMax = 0;
    for (std::size_t at = 0; at < values.size(); at += kMostValues)
        absMax = std::max(absMax, addBlock(values.subspan(at, std::min(kMostValues, values.size() - at))));
    m_histogram.add(values, absMax);
    m_count += values.size();
}

float Collector::addBlock(std::span<const float> values)
{
    const ValueCounts counts = countValues(values);
    m_zeros += counts.zeros;
    m_negatives += counts.negatives;
    if (counts.odd > 0)
        countOddities(values);
    if (counts.odd == values.size())
        return 0;
    const float absMax = std::max(std::abs(counts.low), std::abs(counts.high));
    m_min = m_hasFinite ? std::min(m_min, counts.low) : counts.low;
    m_max = m_hasFinite ? std::max(m_max, counts.high) : counts.high;
    m_hasFinite = true;
    if (counts.odd + counts.zeros < values.size())
        m_smallest = m_smallest == 0 ? counts.smallest : std::min(m_smallest, counts.smallest);
    if (m_detail == Detail::Ranges)
        return absMax;
    countExponents(values, counts);
    const FormatLosses losses = formatLosses(values, counts);
    addMoments(values, counts, losses.bf16);
    m_fp16.add(losses.fp16);
    m_bf16.add(losses.bf16);
    return absMax;
}

void Collector::countOddities(std::span<const float> values)
{
    for (const float value : values) {
        m_nan += std::isnan(value) ? 1 : 0;
        m_positiveInfinite += std::isinf(value) && value > 0 ? 1 : 0;
        m_negativeInfinite += std::isinf(value) && value < 0 ? 1 : 0;
    }
}

void Collector::countExponents(std::span<const float> values, const ValueCounts &counts)
{
    const auto fields = countExponentFields(values, counts);
    for (std::size_t field = 1; field < kInfiniteField; ++field)
        m_exponents.counts[field - 127 - static_cast<std::size_t>(ExponentCounts::kLowest)] += fields[field];
    if (fields[0] == 0)
        return;
    for (const float value : values) {
        // A subnormal number is its mantissa times 2^-149.
        const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
        if (magnitude > 0 && magnitude < 1U << 23)
            ++m_exponents.counts[static_cast<std::size_t>(std::bit_width(magnitude) - 1)];
    }
}

/// Blocks are joined as in Chan, Golub and LeVeque (1983): no difference of sums that are nearly equal, which would lose a
/// spread that is small beside the mean.
void Collector::addMoments(std::span<const float> values, const ValueCounts &counts, const LossSums &losses)
{
    const std::size_t count = values.size() - counts.odd;
    const auto blockCount = static_cast<double>(count);
    const double mean = counts.sum / blockCount;
    // Known from the sum of all squares where the mean takes little of it away, which is nearly everywhere.
    constexpr double kMuch = 0.99;
    const double ofMean = mean * mean * blockCount;
    const bool isKnown = losses.kept == count && ofMean < kMuch * losses.signal;
    const double squares = isKnown ? losses.signal - ofMean : squaresAround(values, mean);
    const auto before = static_cast<double>(m_moments);
    const double shift = mean - m_mean;
    m_moments += count;
    const auto all = static_cast<double>(m_moments);
    m_mean += shift * blockCount / all;
    m_squares += squares + shift * shift * before * blockCount / all;
}

FormatLoss Collector::lossOf(const LossSums &losses, int smallestNormal, int mantissaBits) const
{
    FormatLoss loss;
    loss.aboveMax = losses.aboveMax;
    loss.overflow = losses.overflow;
    loss.underflow = losses.underflow;
    for (int exponent = ExponentCounts::kLowest; exponent < smallestNormal; ++exponent)
        loss.subnormal += m_exponents.at(exponent);
    loss.maxRelative = losses.maxRelative;
    loss.maxAbs = double{losses.maxAbs};
    if (losses.relatives > 0)
        loss.meanRelative = losses.relativeSum / static_cast<double>(losses.relatives);
    if (losses.kept > 0)
        loss.rms = std::sqrt(losses.noise / static_cast<double>(losses.kept));
    loss.sqnrDb = losses.noise > 0 ? 10 * std::log10(losses.signal / losses.noise)
                                   : std::numeric_limits<double>::infinity();
    if (const float absMax = std::max(std::abs(m_min), std::abs(m_max)); absMax > 0)
        loss.ulpAtAbsMax = std::ldexp(1.0, std::max(std::ilogb(absMax), smallestNormal) - mantissaBits);
    return loss;
}

TensorStatistics Collector::statistics() const
{
    TensorStatistics result;
    result.count = m_count;
    result.nan = m_nan;
    result.positiveInfinite = m_positiveInfinite;
    result.negativeInfinite = m_negativeInfinite;
    result.zeros = m_zeros;
    result.negatives = m_negatives;
    result.min = m_min;
    result.max = m_max;
    result.absMax = std::max(std::abs(m_min), std::abs(m_max));
    result.mean = m_mean;
    result.deviation = m_moments > 0 ? std::sqrt(m_squares / static_cast<double>(m_moments)) : 0;
    result.smallestNonZero = m_smallest;
    result.exponents = m_exponents;
    result.fp16 = lossOf(m_fp16, -14, tensor::Float16::kMantissaBits);
    result.bf16 = lossOf(m_bf16, -126, tensor::BFloat16::kMantissaBits);
    result.histogram = m_histogram;
    result.histogram.pack();
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
                const bool isFinite = std::abs(value) <= kLargest;
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
