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

/// Batch normalisation and ReLU in one. Outputs: data, mean, variance, scratch of data's shape.
struct BatchNormRelu
{
    BatchNorm norm{};

    bool operator==(const BatchNormRelu &) const = default;
};

} // namespace halftone::ops
