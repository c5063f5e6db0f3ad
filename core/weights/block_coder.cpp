#include "core/weights/block_coder.h"

#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace halftone::weights {
namespace {

using tensor::DType;
using tensor::WeightFormat;
using Kind = WeightFormat::Kind;

constexpr float kMostE4M3 = 448;
constexpr float kMostE5M2 = 57344;
constexpr float kMostE2M1 = 6;
constexpr int kMostExponent = 127;

/// bitsandbytes' NF4.
constexpr std::array kNormal{-1.0F,
                             -0.6961928009986877F,
                             -0.5250730514526367F,
                             -0.39491748809814453F,
                             -0.28444138169288635F,
                             -0.18477343022823334F,
                             -0.09105003625154495F,
                             0.0F,
                             0.07958029955625534F,
                             0.16093020141124725F,
                             0.24611230194568634F,
                             0.33791524171829224F,
                             0.44070982933044434F,
                             0.5626170039176941F,
                             0.7229568362236023F,
                             1.0F};

/// `value` between 0 and `most`, rounded to the nearest, halves up.
inline int roundedWithin(float value, float most)
{
    const float within = value > 0 ? std::min(value, most) : 0.0F;
    const int whole = static_cast<int>(within);
    return whole + (within - static_cast<float>(whole) >= 0.5F ? 1 : 0);
}

/// Halves to even. Needs: |value| < 2^22
inline float roundedToEven(float value)
{
    constexpr float kShift = 12582912; // 1.5 · 2^23: sums keep no fraction
    return (value + kShift) - kShift;
}

/// Nearest, ties to even, saturating.
inline std::uint8_t codeOfE2M1(float value)
{
    const float x = std::abs(value);
    const int code
        = (x > 0.25F) + (x >= 0.75F) + (x > 1.25F) + (x >= 1.75F) + (x > 2.5F) + (x >= 3.5F) + (x > 5.0F);
    return static_cast<std::uint8_t>(code | (std::signbit(value) ? 8 : 0));
}

inline float valueOfE2M1(std::uint8_t code)
{
    constexpr std::array<float, 16> kValues{0,     0.5F,  1,     1.5F,  2,     3,     4,     6,
                                            -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};
    return kValues[code % kValues.size()];
}

inline std::uint8_t codeOfNormal(float value)
{
    std::uint8_t code = 0;
    while (code + 1U < kNormal.size() && value > (kNormal[code] + kNormal[code + 1U]) / 2)
        ++code;
    return code;
}

std::uint8_t codeOfFloat8(float value, DType type, float most)
{
    const float within = std::clamp(value, -most, most);
    std::byte code{};
    tensor::narrow(&within, 1, type, &code);
    return std::to_integer<std::uint8_t>(code);
}

float valueOfFloat8(std::uint8_t code, DType type)
{
    const auto stored = static_cast<std::byte>(code);
    float value = 0;
    tensor::widen(type, &stored, 1, &value);
    return value;
}

float quotient(float value, float scale)
{
    return value / (scale == 0 ? 1 : scale);
}

/// The scale of a block of MX whose largest magnitude is `largest`. `top`: the exponent of the element type's largest number.
BlockScale powerFor(float largest, int top)
{
    const int exponent
        = largest > 0 ? std::clamp(std::ilogb(largest) - top, -kMostExponent, kMostExponent) : 0;
    return {static_cast<float>(std::ldexp(1.0, exponent)), static_cast<std::uint8_t>(exponent + 127), 0};
}

} // namespace

BlockCoder::BlockCoder(const WeightFormat &format, bool searches, float matrixScale)
    : m_format(format)
    , m_searches(searches && format.kind != Kind::MxFp8 && format.kind != Kind::MxFp4)
    , m_matrixScale(matrixScale)
    , m_most((1 << format.bits) - 1)
    , m_half(1 << (format.bits - 1))
    , m_isChannelByte(format.kind == Kind::Int && format.bits == 8 && format.isPerChannel())
{
}

/// low, high  the least and the largest weight
BlockScale BlockCoder::scaleFor(float low, float high, float clip) const
{
    constexpr int kTopE4M3 = 8;
    constexpr int kTopE2M1 = 2;
    const float largest = std::max(std::abs(low), std::abs(high)) * clip;
    switch (m_format.kind) {
    case Kind::Int: {
        if (m_isChannelByte)
            return {largest / 127, 0, static_cast<std::uint8_t>(m_half)};
        const float end = (std::abs(high) > std::abs(low) ? high : low) * clip;
        return {end / static_cast<float>(-m_half), 0, static_cast<std::uint8_t>(m_half)};
    }
    case Kind::UInt: {
        const float from = std::min(low, 0.0F) * clip;
        const float to = std::max(high, 0.0F) * clip;
        const auto most = static_cast<float>(m_most);
        const float width = to - from;
        const float scale = std::isfinite(width) ? width / most : to / most - from / most;
        const int zero = scale != 0 ? roundedWithin(-from / scale, most) : 0;
        return {scale, 0, static_cast<std::uint8_t>(zero)};
    }
    case Kind::Float8E4M3:
        return {largest / kMostE4M3, 0, 0};
    case Kind::Float8E5M2:
        return {largest / kMostE5M2, 0, 0};
    case Kind::MxFp8:
        return powerFor(largest, kTopE4M3);
    case Kind::MxFp4:
        return powerFor(largest, kTopE2M1);
    case Kind::NvFp4: {
        const std::uint8_t code
            = codeOfFloat8(largest / kMostE2M1 / m_matrixScale, DType::F8E4M3FN, kMostE4M3);
        return {valueOfFloat8(code, DType::F8E4M3FN) * m_matrixScale, code, 0};
    }
    case Kind::Nf4:
        return {largest, 0, 0};
    }
    return {};
}

void BlockCoder::codesOf(std::span<const float> block, const BlockScale &scale, std::uint8_t *codes) const
{
    const float inverse = scale.scale != 0 ? 1 / scale.scale : 0.0F;
    const auto each = [&](auto code) {
        for (std::size_t i = 0; i < block.size(); ++i)
            codes[i] = static_cast<std::uint8_t>(code(block[i]));
    };
    switch (m_format.kind) {
    case Kind::Int:
        if (m_isChannelByte) {
            const float step = scale.scale == 0 ? 1 : scale.scale;
            const auto half = static_cast<float>(m_half);
            each([step, half](float w) {
                return static_cast<int>(roundedToEven(std::clamp(w / step, -127.0F, 127.0F)) + half);
            });
            break;
        }
        [[fallthrough]];
    case Kind::UInt: {
        const auto zero = static_cast<float>(scale.zero);
        const auto most = static_cast<float>(m_most);
        each([inverse, zero, most](float w) { return roundedWithin(w * inverse + zero, most); });
        break;
    }
    case Kind::Float8E4M3:
        each([&](float w) { return codeOfFloat8(quotient(w, scale.scale), DType::F8E4M3FN, kMostE4M3); });
        break;
    case Kind::Float8E5M2:
        each([&](float w) { return codeOfFloat8(quotient(w, scale.scale), DType::F8E5M2, kMostE5M2); });
        break;
    case Kind::MxFp8:
        each([&](float w) {
            return codeOfFloat8(static_cast<float>(double{w} / double{scale.scale}), DType::F8E4M3FN,
                                kMostE4M3);
        });
        break;
    case Kind::MxFp4:
        each([&](float w) { return codeOfE2M1(static_cast<float>(double{w} / double{scale.scale})); });
        break;
    case Kind::NvFp4:
        each([&](float w) { return codeOfE2M1(quotient(w, scale.scale)); });
        break;
    case Kind::Nf4:
        each([&](float w) { return codeOfNormal(quotient(w, scale.scale)); });
        break;
    }
}

void BlockCoder::decode(std::span<const std::uint8_t> codes, const BlockScale &scale, float *values) const
{
    const auto each = [&](auto value) {
        for (std::size_t i = 0; i < codes.size(); ++i)
            values[i] = value(codes[i]);
    };
    const float step = scale.scale;
    switch (m_format.kind) {
    case Kind::Int:
    case Kind::UInt: {
        const int zero = scale.zero;
        each([zero, step](std::uint8_t code) { return static_cast<float>(code - zero) * step; });
        break;
    }
    case Kind::Float8E4M3:
    case Kind::MxFp8:
        each([step](std::uint8_t code) { return valueOfFloat8(code, DType::F8E4M3FN) * step; });
        break;
    case Kind::Float8E5M2:
        each([step](std::uint8_t code) { return valueOfFloat8(code, DType::F8E5M2) * step; });
        break;
    case Kind::MxFp4:
    case Kind::NvFp4:
        each([step](std::uint8_t code) { return valueOfE2M1(code) * step; });
        break;
    case Kind::Nf4:
        each([step](std::uint8_t code) { return kNormal[code % kNormal.size()] * step; });
        break;
    }
}

double BlockCoder::errorOf(std::span<const float> block, const BlockScale &scale) const
{
    constexpr std::size_t kPiece = 64;
    constexpr std::size_t kLanes = 4;
    std::array<std::uint8_t, kPiece> codes{};
    std::array<float, kPiece> values{};
    std::array<double, kLanes> sums{};
    for (std::size_t first = 0; first < block.size(); first += kPiece) {
        const auto part = block.subspan(first, std::min(kPiece, block.size() - first));
        codesOf(part, scale, codes.data());
        decode(std::span(codes).first(part.size()), scale, values.data());
        for (std::size_t i = 0; i < part.size(); ++i) {
            const double difference = double{part[i]} - double{values[i]};
            sums[i % kLanes] += difference * difference;
        }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

BlockScale BlockCoder::searched(std::span<const float> block, float low, float high) const
{
    constexpr int kClips = 26; // 1, 0.98, …, 0.5
    BlockScale best;
    double least = INFINITY;
    for (int k = 0; k < kClips; ++k) {
        const BlockScale scale = scaleFor(low, high, static_cast<float>((50 - k) / 50.0));
        const double error = errorOf(block, scale);
        if (k == 0 || error < least) {
            best = scale;
            least = error;
        }
    }
    return best;
}

BlockScale BlockCoder::scaleOf(std::span<const float> block) const
{
    float low = block[0];
    float high = block[0];
    for (const float weight : block) {
        low = std::min(low, weight);
        high = std::max(high, weight);
    }
    return m_searches ? searched(block, low, high) : scaleFor(low, high, 1);
}

BlockScale BlockCoder::encode(std::span<const float> block, std::uint8_t *codes) const
{
    const BlockScale scale = scaleOf(block);
    codesOf(block, scale, codes);
    return scale;
}

float matrixScaleOf(const WeightFormat &format, float largest)
{
    return format.kind == Kind::NvFp4 && largest > 0 ? largest / (kMostE2M1 * kMostE4M3) : 1;
}

} // namespace halftone::weights
