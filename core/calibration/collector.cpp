#include "core/calibration/collector.h"

#include "core/tensor/bfloat16.h"
#include "core/tensor/float16.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace halftone::calibration {
namespace {

constexpr std::size_t kBlock = 2048;
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kInfinity = 0x7F800000U;

struct ToFloat16
{
    static constexpr std::uint32_t kLargest = 0x477FE000U; ///< 65504
    static float rounded(float value) { return tensor::floatFromFloat16(tensor::float16FromFloat(value)); }
};

struct ToBFloat16
{
    static constexpr std::uint32_t kLargest = 0x7F7F0000U;
    static float rounded(float value) { return tensor::floatFromBfloat16(tensor::bfloat16FromFloat(value)); }
};

std::uint32_t magnitudeOf(float value)
{
    return std::bit_cast<std::uint32_t>(value) & kMagnitude;
}

} // namespace

void Collector::add(std::span<const float> values)
{
    float absMax = 0;
    for (const float value : values) {
        const float magnitude = std::abs(value);
        absMax = magnitude > absMax && magnitude <= kLargest ? magnitude : absMax;
    }
    m_histogram.add(values, absMax);
    for (std::size_t at = 0; at < values.size(); at += kBlock)
        addBlock(values.subspan(at, std::min(kBlock, values.size() - at)));
    m_count += values.size();
}

void Collector::addBlock(std::span<const float> values)
{
    float low = kLargest;
    float high = -kLargest;
    float smallest = kLargest;
    std::uint32_t zeros = 0;
    std::uint32_t negatives = 0;
    std::uint32_t odd = 0;
    for (const float value : values) {
        const float magnitude = std::abs(value);
        const bool isFinite = magnitude <= kLargest;
        odd += isFinite ? 0U : 1U;
        zeros += magnitude == 0 ? 1U : 0U;
        negatives += isFinite && value < 0 ? 1U : 0U;
        low = isFinite && value < low ? value : low;
        high = isFinite && value > high ? value : high;
        smallest = magnitude > 0 && magnitude < smallest ? magnitude : smallest;
    }
    m_zeros += zeros;
    m_negatives += negatives;
    if (odd > 0)
        countOddities(values);
    if (odd < values.size()) {
        m_min = m_hasFinite ? std::min(m_min, low) : low;
        m_max = m_hasFinite ? std::max(m_max, high) : high;
        m_hasFinite = true;
        if (odd + zeros < values.size())
            m_smallest = m_smallest == 0 ? smallest : std::min(m_smallest, smallest);
    }
    if (m_detail == Detail::Ranges)
        return;
    countExponents(values);
    addMoments(values);
    addLosses<ToFloat16>(values, m_fp16);
    addLosses<ToBFloat16>(values, m_bf16);
}

void Collector::countOddities(std::span<const float> values)
{
    for (const float value : values) {
        m_nan += std::isnan(value) ? 1 : 0;
        m_positiveInfinite += std::isinf(value) && value > 0 ? 1 : 0;
        m_negativeInfinite += std::isinf(value) && value < 0 ? 1 : 0;
    }
}

void Collector::countExponents(std::span<const float> values)
{
    for (const float value : values) {
        const std::uint32_t magnitude = magnitudeOf(value);
        if (magnitude == 0 || magnitude >= kInfinity)
            continue;
        const auto field = static_cast<int>(magnitude >> 23);
        // A subnormal number is its mantissa times 2^-149.
        const int exponent = field > 0 ? field - 127 : std::bit_width(magnitude) - 1 - 149;
        ++m_exponents.counts[static_cast<std::size_t>(exponent - ExponentCounts::kLowest)];
    }
}

/// Blocks are joined as in Chan, Golub and LeVeque (1983): no difference of large sums, which would lose a spread that is
/// small beside the mean.
void Collector::addMoments(std::span<const float> values)
{
    double sum = 0;
    std::uint64_t count = 0;
    for (const float value : values) {
        const bool isFinite = std::abs(value) <= kLargest;
        sum += isFinite ? double{value} : 0;
        count += isFinite ? 1 : 0;
    }
    if (count == 0)
        return;
    const auto blockCount = static_cast<double>(count);
    const double mean = sum / blockCount;
    double squares = 0;
    for (const float value : values) {
        const double distance = std::abs(value) <= kLargest ? value - mean : 0;
        squares += distance * distance;
    }
    const auto before = static_cast<double>(m_moments);
    const double shift = mean - m_mean;
    m_moments += count;
    const auto all = static_cast<double>(m_moments);
    m_mean += shift * blockCount / all;
    m_squares += squares + shift * shift * before * blockCount / all;
}

template <class Format>
void Collector::addLosses(std::span<const float> values, Losses &losses)
{
    for (const float value : values) {
        const float rounded = Format::rounded(value);
        const std::uint32_t magnitude = magnitudeOf(value);
        const bool isFinite = magnitude < kInfinity;
        const bool overflows = isFinite && magnitudeOf(rounded) >= kInfinity;
        const bool isKept = isFinite && !overflows;
        const bool isRelative = isKept && magnitude > 0;
        const double signal = isKept ? double{value} : 0;
        const double error = isKept ? std::abs(double{rounded} - double{value}) : 0;
        const double relative = isRelative ? error / std::abs(double{value}) : 0;
        losses.aboveMax += isFinite && magnitude > Format::kLargest ? 1 : 0;
        losses.overflow += overflows ? 1 : 0;
        losses.underflow += isRelative && rounded == 0 ? 1 : 0;
        losses.relatives += isRelative ? 1 : 0;
        losses.kept += isKept ? 1 : 0;
        losses.relativeSum += relative;
        losses.maxRelative = relative > losses.maxRelative ? relative : losses.maxRelative;
        losses.maxAbs = error > losses.maxAbs ? error : losses.maxAbs;
        losses.signal += signal * signal;
        losses.noise += error * error;
    }
}

FormatLoss Collector::lossOf(const Losses &losses, int smallestNormal, int mantissaBits) const
{
    FormatLoss loss;
    loss.aboveMax = losses.aboveMax;
    loss.overflow = losses.overflow;
    loss.underflow = losses.underflow;
    for (int exponent = ExponentCounts::kLowest; exponent < smallestNormal; ++exponent)
        loss.subnormal += m_exponents.at(exponent);
    loss.maxRelative = losses.maxRelative;
    loss.maxAbs = losses.maxAbs;
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
