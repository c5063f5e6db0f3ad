#pragma once

#include "core/dialect/arithmetic.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"
#include "core/tensor/dtype.h"

#include <optional>
#include <span>

/// What MXNet 1.9.1 computes on a CPU where that is not what its operators say, as seen by running it
/// (tests/interop/check_delivery.py; core/quantize/RULES.md, Q-sum-above to Q-plain-conv; core/mixed/RULES.md, D-bf16-cut).
namespace halftone::dialect::mxnet {

using dialect::Bfloat16Way;
using dialect::CodeSpan;
using dialect::Int8Defect;

Bfloat16Way bfloat16Way(const ops::Operator &op);

/// A fused int8 convolution adds in the type of its addend (Q-sum-above, Q-sum-below): nothing for a result of the same type.
std::optional<CodeSpan> codesOfSum(tensor::DType addend, tensor::DType result);

/// Hidden attribute of a fused int8 operator: no code of its result is larger. Its range is wider for that than the values.
inline constexpr const char *kMostCode = "__most_code__";

/// Does an int8 operator with this function fused into it give what both say? `isCalibrated`: it knows its range; with
/// `givesReals` the result is no codes.
bool fusesFaithfully(const ops::Operator &function, bool isConvolution, bool isCalibrated, bool givesReals);

/// Types of the inputs and outputs as far as they are known. What a parameter holds is not looked at.
std::optional<Int8Defect> int8Defect(const graph::NodeDef &node, std::span<const tensor::DType> inputs,
                                     std::span<const tensor::DType> outputs);

/// All of this, for those who don't know which format it is.
const Arithmetic &cpuArithmetic();

} // namespace halftone::dialect::mxnet
