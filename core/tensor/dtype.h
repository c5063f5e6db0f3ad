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
    Bool,
    F8E4M3FN, ///< OCP 8-bit floating point, revision 1.0: 4 bits of exponent, 3 of mantissa, NaN but no infinities
    F8E5M2, ///< of the same: 5 and 2 bits, infinities and NaN
    TF32, ///< float32 with 10 bits of mantissa; held as such a float32
    Posit16, ///< 16-bit posit of the Posit Standard (2022): 2 bits of exponent, one zero, one NaR, no infinities
    I4, ///< integers of 4 and 2 bits, in memory one a byte: -8 to 7 as int8 has them, 0 to 15 as uint8; -2 to 1, 0 to 3
    U4,
    I2,
    U2,
    F4E2M1 ///< OCP 4-bit floating point, MX 1.0: 2 bits of exponent, 1 of mantissa, all codes finite; in memory one a byte
};

inline constexpr std::size_t kTypes = static_cast<std::size_t>(DType::F4E2M1) + 1; ///< Unknown among them

/// Bytes of one element in memory, 0 for Unknown.
std::size_t sizeOf(DType type);

/// NumPy's name ("float32", "bfloat16", …); "unknown" for Unknown.
std::string_view nameOf(DType type);

/// The type of that name; also the short forms of people: fp16, half, bf16, fp32, float, double.
std::optional<DType> dtypeNamed(std::string_view name);

/// What a float type can say.
struct FloatRange
{
    int significantBits = 0; ///< the leading one counted; of a posit the most that it has, near 1
    double largest = 0; ///< finite value
    double leastNormal = 0; ///< positive; smaller ones have fewer significant bits. Of a posit its smallest
};
/// Needs: isFloat(type).
const FloatRange &rangeOf(DType type);

/// Formats that no file's operators compute in: values are rounded to them to see what that costs.
constexpr bool isForAnalysis(DType type)
{
    return type >= DType::F8E4M3FN && type <= DType::Posit16;
}

constexpr bool isFloat(DType type)
{
    return type == DType::F32 || type == DType::F64 || type == DType::F16 || type == DType::BF16
        || type == DType::F4E2M1 || isForAnalysis(type);
}

/// Bits of an element where files keep several in a byte; 0 for types of whole bytes.
constexpr int packedBits(DType type)
{
    return type == DType::I4 || type == DType::U4 || type == DType::F4E2M1 ? 4
        : type == DType::I2 || type == DType::U2                           ? 2
                                                                           : 0;
}

/// Is every value of the type a float32?
constexpr bool fitsFloat32(DType type)
{
    return isFloat(type) && type != DType::F64;
}

constexpr bool isHalf(DType type)
{
    return type == DType::F16 || type == DType::BF16;
}

} // namespace halftone::tensor
