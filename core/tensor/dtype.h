#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::tensor {

/// Element types. The order is ours; file formats map their own codes (`dialect/mxnet`, `io`).
enum class DType : std::uint8_t
{
    Unknown,
    F32,
    F64,
    F16,
    BF16,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    Bool
};

/// Bytes of one element, 0 for Unknown.
std::size_t sizeOf(DType type);

/// NumPy's name ("float32", "bfloat16", …); "unknown" for Unknown.
std::string_view nameOf(DType type);

/// The type of that name; also the short forms of people: fp16, half, bf16, fp32, float, double.
std::optional<DType> dtypeNamed(std::string_view name);

constexpr bool isFloat(DType type)
{
    return type == DType::F32 || type == DType::F64 || type == DType::F16 || type == DType::BF16;
}

constexpr bool isHalf(DType type)
{
    return type == DType::F16 || type == DType::BF16;
}

} // namespace halftone::tensor
