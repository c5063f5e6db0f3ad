#pragma once

#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halftone::tensor {

/// How the weights of a product are stored while it computes in a real type (core/quantize/RULES.md, W-formats): codes with a scale, and
/// perhaps a zero point, for each block of weights that one output sums up.
struct WeightFormat
{
    enum class Kind : std::uint8_t
    {
        Int, ///< symmetric integers
        UInt, ///< integers with zero points
        Float8E4M3,
        Float8E5M2,
        MxFp8, ///< OCP MX 1.0: float8_e4m3fn, scales are powers of two
        MxFp4, ///< likewise: float4_e2m1fn
        NvFp4, ///< float4_e2m1fn, scales float8_e4m3fn, one float32 for the matrix
        Nf4 ///< 16 fixed values; for comparisons only
    };
    static constexpr std::int64_t kChannel = 0;

    Kind kind = Kind::Int;
    int bits = 4; ///< of a code
    std::int64_t block = 32; ///< weights with one scale; kChannel: all of an output

    bool operator==(const WeightFormat &) const = default;

    bool isInteger() const { return kind == Kind::Int || kind == Kind::UInt; }
    bool hasZeroPoints() const { return kind == Kind::UInt; }
    bool isPerChannel() const { return block == kChannel; }
    DType codeType() const; ///< of the codes as such; U4 for Nf4
    int scaleBits() const; ///< of a block's scale in a float32 model
};

/// "uint4/32", "int8/channel", "mxfp4".
std::string nameOf(const WeightFormat &format);

/// Nothing where it is none.
std::optional<WeightFormat> weightFormatNamed(std::string_view name);

/// For errors and help: what weightFormatNamed() takes.
inline constexpr std::string_view kWeightFormats
    = "int4, uint4, int8, uint8, int2 or uint2 with /16, /32, /64, /128, /256 or /channel, "
      "fp8_e4m3/channel, fp8_e5m2/channel, mxfp8, mxfp4, nvfp4, or for compare nf4 with a block";

} // namespace halftone::tensor
