#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::tensor {

/// Element types. File formats map their own codes to them (`dialect/mxnet`, `io`).
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
    Bool,
    F8E4M3FN, ///< OCP 8-bit floating point, revision 1.0: 4 bits of exponent, 3 of mantissa, NaN but no infinities
    F8E5M2, ///< likewise: 5 bits of exponent, 2 of mantissa, infinities and NaN
    TF32, ///< float32 with 10 bits of mantissa, stored as float32
    Posit16, ///< 16-bit posit of the Posit Standard (2022): 2 bits of exponent, one zero, one NaR, no infinities
    I4, ///< integers of 4 and 2 bits, one per byte in memory: -8 to 7 as in int8, 0 to 15 as in uint8; -2 to 1, 0 to 3
    U4,
    I2,
    U2,
    F4E2M1, ///< OCP 4-bit floating point, MX 1.0: 2 bits of exponent, 1 of mantissa, all codes finite; one per byte in memory
    F8E8M0 ///< OCP scale of MX 1.0: 8 bits of exponent alone, powers of two from 2^-127 to 2^127, and NaN
};

inline constexpr std::size_t kTypes = static_cast<std::size_t>(DType::F8E8M0) + 1; ///< including Unknown

/// Bytes of one element in memory, 0 for Unknown.
std::size_t sizeOf(DType type);

/// NumPy's name ("float32", "bfloat16", …); "unknown" for Unknown.
std::string_view nameOf(DType type);

/// The type with that name; also accepts the short forms fp16, half, bf16, fp32, float and double.
std::optional<DType> dtypeNamed(std::string_view name);

/// The precision and range of a float type.
struct FloatRange
{
    int significantBits = 0; ///< including the leading one; for a posit the maximum, near 1
    double largest = 0; ///< finite value
    double leastNormal
        = 0; ///< positive; smaller values have fewer significant bits. For a posit its smallest value
};
/// Needs: isFloat(type).
const FloatRange &rangeOf(DType type);

/// Formats for analysis only: no model file supports them, but values can be rounded to them to measure the error.
constexpr bool isForAnalysis(DType type)
{
    return type >= DType::F8E4M3FN && type <= DType::Posit16;
}

constexpr bool isFloat(DType type)
{
    return type == DType::F32 || type == DType::F64 || type == DType::F16 || type == DType::BF16
        || type == DType::F4E2M1 || type == DType::F8E8M0 || isForAnalysis(type);
}

/// Bits per element if files pack several into a byte; 0 for types of whole bytes.
constexpr int packedBits(DType type)
{
    return type == DType::I4 || type == DType::U4 || type == DType::F4E2M1 ? 4
        : type == DType::I2 || type == DType::U2                           ? 2
                                                                           : 0;
}

/// Can float32 represent every value of the type?
constexpr bool fitsFloat32(DType type)
{
    return isFloat(type) && type != DType::F64;
}

constexpr bool isHalf(DType type)
{
    return type == DType::F16 || type == DType::BF16;
}

} // namespace halftone::tensor
