#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>

namespace halftone::tensor {

/// The element of a type of 4 or 2 bits whose bits are the low ones of a byte: two's complement where the type is signed.
/// Needs: packedBits(type) > 0
constexpr std::byte lowBits(DType type, std::byte value)
{
    const unsigned mask = (1U << packedBits(type)) - 1;
    const unsigned sign = type == DType::I4 || type == DType::I2 ? mask / 2 + 1 : 0U;
    return static_cast<std::byte>(((std::to_integer<unsigned>(value) & mask) ^ sign) - sign);
}

} // namespace halftone::tensor
