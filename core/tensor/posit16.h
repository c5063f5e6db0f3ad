#pragma once

#include <bit>
#include <cstdint>
#include <limits>

/// The 16-bit posit of the Posit Standard (2022): a sign, a regime (a run of equal bits, worth 2^4 each), two bits of exponent,
/// the rest fraction; negative numbers are the two's complement of their magnitude's code. 0x0000 is zero, 0x8000 NaR.
namespace halftone::tensor {

inline constexpr std::uint16_t kPositNaR = 0x8000;

/// Exact; NaR is NaN.
constexpr double doubleFromPosit16(std::uint16_t code)
{
    if (code == 0)
        return 0;
    if (code == kPositNaR)
        return std::numeric_limits<double>::quiet_NaN();
    const bool isNegative = (code & 0x8000U) != 0;
    const auto magnitude = static_cast<std::uint16_t>(isNegative ? 0x10000U - code : code);
    // The run begins below the sign; behind it stands the bit that ends it.
    const auto body = static_cast<std::uint16_t>(magnitude << 1);
    const bool isUp = (body & 0x8000U) != 0;
    const int run = isUp ? std::countl_one(body) : std::countl_zero(body);
    const int regime = isUp ? run - 1 : -run;
    const std::uint64_t rest
        = run + 1 < 16 ? std::uint64_t{static_cast<std::uint16_t>(body << (run + 1))} : 0;
    const int power = 4 * regime + static_cast<int>(rest >> 14);
    const std::uint64_t fraction = rest & 0x3FFFU;
    const auto value
        = std::bit_cast<double>((static_cast<std::uint64_t>(power + 1023) << 52) | (fraction << 38));
    return isNegative ? -value : value;
}

/// The standard's rounding: to the nearest code, where the 17-bit posit between two codes is what divides them, and that itself
/// goes to the even one. No number becomes zero or NaR: beyond the ends it is the end. NaN and infinities are NaR.
constexpr std::uint16_t posit16FromDouble(double value)
{
    constexpr int kKept = 40; ///< bits of the fraction that are looked at; the rest counts as one bit
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int exponent = static_cast<int>((bits >> 52) & 0x7FF) - 1023;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const bool isNegative = (bits >> 63) != 0;
    if (exponent == 1024)
        return kPositNaR;
    if (bits << 1 == 0)
        return 0;
    std::uint32_t code = exponent >= 56 ? 0x7FFFU : 1U;
    if (exponent >= -56 && exponent < 56) {
        const int regime = exponent >> 2;
        const int length = regime >= 0 ? regime + 2 : 1 - regime;
        const std::uint64_t run = regime >= 0 ? (std::uint64_t{1} << length) - 2 : 1;
        const std::uint64_t isMore = (fraction & ((std::uint64_t{1} << (52 - kKept)) - 1)) != 0 ? 1 : 0;
        const std::uint64_t text = (((run << 2) | static_cast<std::uint64_t>(exponent & 3)) << (kKept + 1))
            | ((fraction >> (52 - kKept)) << 1) | isMore;
        const int shift = length + 2 + kKept + 1 - 15;
        const std::uint64_t rest = text & ((std::uint64_t{1} << shift) - 1);
        const std::uint64_t half = std::uint64_t{1} << (shift - 1);
        code = static_cast<std::uint32_t>(text >> shift);
        code += rest > half || (rest == half && (code & 1U) != 0) ? 1U : 0U;
    }
    return static_cast<std::uint16_t>(isNegative ? 0x10000U - code : code);
}

} // namespace halftone::tensor
