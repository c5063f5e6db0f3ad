#pragma once

#include "core/ops/op_elementwise.h"
#include "core/ops/op_linear.h"
#include "core/ops/op_move.h"
#include "core/ops/op_norm.h"
#include "core/ops/op_spatial.h"
#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>

/// Integer forms of operators: a tensor of 8 or 32 bits travels with two tensors (1), the reals that its ends stand for.
namespace halftone::ops {

/// The range that calibration found for an output.
struct CalibratedRange
{
    std::optional<double> low{};
    std::optional<double> high{};

    bool operator==(const CalibratedRange &) const = default;
};

enum class QuantizedType : std::uint8_t
{
    Auto, ///< uint8 where the calibrated range begins at 0 or above, else int8
    Int8,
    UInt8
};

/// Real to integer. Inputs: data[, low, high]. Outputs: data, low, high.
struct Quantize
{
    bool rangeIsInput = false;
    QuantizedType type = QuantizedType::Int8;
    CalibratedRange range{};

    bool operator==(const Quantize &) const = default;
};

/// 32 bits to 8. Inputs and outputs: data, low, high.
struct Requantize
{
    QuantizedType type = QuantizedType::Int8;
    CalibratedRange range{};

    bool operator==(const Requantize &) const = default;
};

/// Integer to real. Inputs: data, low, high.
struct Dequantize
{
    DType dtype = DType::F32;

    bool operator==(const Dequantize &) const = default;
};

/// The integer form of `op`. Inputs: those of `op`, then low and high of each that has a range. Outputs: that of `op`, low,
/// high; or that of `op` alone, as reals.
template <class T>
struct Quantized
{
    T op{};
    CalibratedRange range{};
    bool realOutput = false;

    bool operator==(const Quantized &) const = default;
};

/// Codes by a scale and a zero point: round(x / scale) + zero point, cut to the type; float8 is rounded as such. Inputs: data, scale[, zero point], one for
/// all, one for each place of the axis, or one for each block of places.
struct QuantizeLinear
{
    std::int64_t axis = 1;
    std::int64_t block = 0; ///< length of blocks along the axis; 0: none
    bool hasZeroPoint = false;
    bool saturates = true; ///< into float8 only: as Cast has it

    bool operator==(const QuantizeLinear &) const = default;
};

/// The way back: (code - zero point) · scale.
struct DequantizeLinear
{
    std::int64_t axis = 1;
    std::int64_t block = 0;
    bool hasZeroPoint = false;

    bool operator==(const DequantizeLinear &) const = default;
};

/// Codes of uint8 by the range of the values, 0 in it. Outputs: codes, scale, zero point.
struct DynamicQuantizeLinear
{
    bool operator==(const DynamicQuantizeLinear &) const = default;
};

/// Convolution of codes. Sums: data, weight[, zero point of data][, of weight], to int32. Recoded: data, its scale and zero
/// point, weight, its scale (one or one a channel) and zero point, scale and zero point of the result[, bias in the sums' scale].
struct CodedConv
{
    Conv conv{};
    bool recodes = false;
    bool hasDataZero = false; ///< sums
    bool hasWeightZero = false; ///< sums

    bool operator==(const CodedConv &) const = default;
};

/// Matrix product of codes as MatMul::Form::Stretched has it. Sums: a, b[, zero point of a][, of b], to int32. Recoded: a, its
/// scale and zero point, b, its scale and zero point, scale and zero point of the result. Those of a may be one a row, of b one a column.
struct CodedMatMul
{
    bool recodes = false;
    bool hasFirstZero = false; ///< sums
    bool hasSecondZero = false; ///< sums

    bool operator==(const CodedMatMul &) const = default;
};

/// Batch normalisation and ReLU in one. Outputs: data, mean, variance, scratch of data's shape.
struct BatchNormRelu
{
    BatchNormalization norm{};

    bool operator==(const BatchNormRelu &) const = default;
};

} // namespace halftone::ops
