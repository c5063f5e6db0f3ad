#pragma once

#include "core/tensor/float16.h"

namespace halftone::tensor {

/// The upper half of a float, rounded to the nearest, ties to even; NaN stays a (quiet) NaN.
constexpr std::uint16_t bfloat16FromFloat(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
    const std::uint32_t nan = (bits >> 16) | BFloat16::kQuietBit;
    return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? nan : rounded);
}

/// Exact, NaN payloads included.
constexpr float floatFromBfloat16(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

} // namespace halftone::tensor
