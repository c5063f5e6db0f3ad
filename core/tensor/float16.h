#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace halftone::tensor {

/// A narrow binary floating-point format of IEEE 754's build: a sign, exponent, mantissa, subnormals, NaN; infinities, or
/// (E4M3FN) one NaN at the very end and all else finite.
template <int ExponentBits, int MantissaBits, bool HasInfinity = true>
struct BinaryFormat
{
    static constexpr int kBits = 1 + ExponentBits + MantissaBits;
    using Code = std::conditional_t<kBits <= 8, std::uint8_t,
                                    std::conditional_t<kBits <= 16, std::uint16_t, std::uint32_t>>;
    static constexpr int kMantissaBits = MantissaBits;
    static constexpr int kBias = (1 << (ExponentBits - 1)) - 1;
    static constexpr bool kHasInfinity = HasInfinity;
    static constexpr std::uint32_t kInfinity = ((1U << ExponentBits) - 1) << MantissaBits;
    static constexpr std::uint32_t kSmallestNormal = 1U << MantissaBits;
    static constexpr std::uint32_t kQuietBit = 1U << (MantissaBits - 1);
    static constexpr std::uint32_t kNan = HasInfinity ? kInfinity | kQuietBit : (1U << (kBits - 1)) - 1;
    /// The first code that is no finite number, which what is too large becomes.
    static constexpr std::uint32_t kEnd = HasInfinity ? kInfinity : kNan;
};

using Float16 = BinaryFormat<5, 10>;
using BFloat16 = BinaryFormat<8, 7>;
using Float8E4M3FN = BinaryFormat<4, 3, false>;
using Float8E5M2 = BinaryFormat<5, 2>;
using TensorFloat32 = BinaryFormat<8, 10>;

/// `value` in `Format`, rounded once to the nearest, ties to even; too large is infinity (NaN where there is none), NaN
/// stays a (quiet) NaN.
template <class Format>
constexpr typename Format::Code narrowDouble(double value)
{
    constexpr int kDoubleMantissaBits = 52;
    constexpr int kDoubleBias = 1023;
    constexpr std::uint64_t kMantissaMask = (std::uint64_t{1} << kDoubleMantissaBits) - 1;
    constexpr int kDropped = kDoubleMantissaBits - Format::kMantissaBits;
    using Code = typename Format::Code;

    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<std::uint32_t>(bits >> 63) << (Format::kBits - 1);
    const int exponent = static_cast<int>((bits >> kDoubleMantissaBits) & 0x7FF);
    const std::uint64_t mantissa = bits & kMantissaMask;
    if (exponent == 0x7FF && mantissa != 0) {
        const auto payload = Format::kHasInfinity ? static_cast<std::uint32_t>(mantissa >> kDropped) : 0U;
        return static_cast<Code>(sign | Format::kNan | payload);
    }
    const int narrowExponent = exponent - kDoubleBias + Format::kBias;
    const int shift = kDropped + (narrowExponent > 0 ? 0 : 1 - narrowExponent);
    // A shift beyond 53 leaves less than half of the smallest subnormal; doubles with exponent 0 are far
    // below that too.
    if (shift > kDoubleMantissaBits + 1)
        return static_cast<Code>(sign);
    if (narrowExponent > 2 * Format::kBias + 1)
        return static_cast<Code>(sign | Format::kEnd);
    const std::uint64_t significand = mantissa | (std::uint64_t{1} << kDoubleMantissaBits);
    const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    std::uint64_t rounded = significand >> shift;
    rounded += static_cast<std::uint64_t>(rest > half || (rest == half && (rounded & 1) != 0));
    // The leading one of `rounded` adds one to the exponent field, and so does a carry out of rounding, up to
    // the end.
    const auto base
        = narrowExponent > 0 ? static_cast<std::uint64_t>(narrowExponent - 1) << Format::kMantissaBits : 0;
    const std::uint64_t code = base + rounded;
    return static_cast<Code>(sign | (code < Format::kEnd ? static_cast<std::uint32_t>(code) : Format::kEnd));
}

/// The value of a code: exact. Of what IEEE 754 calls a NaN, some NaN.
template <class Format>
constexpr double widenCode(std::uint32_t code)
{
    const bool isNegative = (code >> (Format::kBits - 1)) != 0;
    const std::uint32_t magnitude = code & ((1U << (Format::kBits - 1)) - 1);
    double value = std::numeric_limits<double>::quiet_NaN();
    if (magnitude < Format::kEnd) {
        const std::uint32_t exponent = magnitude >> Format::kMantissaBits;
        const std::uint32_t mantissa = magnitude & (Format::kSmallestNormal - 1);
        const int power
            = static_cast<int>(exponent > 0 ? exponent : 1) - Format::kBias - Format::kMantissaBits;
        const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
        value = static_cast<double>(mantissa + (exponent > 0 ? Format::kSmallestNormal : 0U)) * scale;
    } else if (Format::kHasInfinity && magnitude == Format::kInfinity) {
        value = std::numeric_limits<double>::infinity();
    }
    return isNegative ? -value : value;
}

/// `yes` where the condition holds, else `no`; arithmetic, since a compiler keeps ?: around floating-point
/// code a branch.
constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no)
{
    const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
    return (yes & mask) | (no & ~mask);
}

/// The same from float, without branches, so that loops over it become vector code.
constexpr std::uint16_t float16FromFloat(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    constexpr std::uint32_t kRebias = (127U - 15U) << 23;
    const std::uint32_t normal = (magnitude - kRebias + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
    // In [0.5, 1) floats are 2^-24 apart, as subnormals are: the adder rounds.
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F)
        - std::bit_cast<std::uint32_t>(0.5F);
    const std::uint32_t nan = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
    std::uint32_t narrow = select(magnitude < 0x38800000U, subnormal, normal);
    narrow = select(magnitude >= 0x47800000U, Float16::kInfinity, narrow);
    narrow = select(magnitude > 0x7F800000U, nan, narrow);
    return static_cast<std::uint16_t>(sign | narrow);
}

/// Exact; a signalling NaN becomes quiet.
constexpr float floatFromFloat16(std::uint16_t bits)
{
    constexpr std::uint32_t kRebias = (127U - 15U) << 23;
    constexpr float kSmallestSubnormal = 1.0F / (1U << 24);
    const std::uint32_t magnitude = bits & 0x7FFFU;
    const std::uint32_t normal = (magnitude << 13) + kRebias;
    const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * kSmallestSubnormal);
    const std::uint32_t nanOrInfinity
        = (normal + kRebias) | select(magnitude > Float16::kInfinity, 0x00400000U, 0U);
    std::uint32_t wide = select(magnitude < Float16::kSmallestNormal, subnormal, normal);
    wide = select(magnitude >= Float16::kInfinity, nanOrInfinity, wide);
    return std::bit_cast<float>(wide | (static_cast<std::uint32_t>(bits & 0x8000U) << 16));
}

} // namespace halftone::tensor
