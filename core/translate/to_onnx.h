#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <string>
#include <unordered_map>

namespace halftone::translate {

/// Known types and shapes of the inputs, by name.
struct InputFacts
{
    infer::KnownShapes shapes{};
    std::unordered_map<std::string, tensor::DType> types{};
};

/// Translates a model of another format to ONNX: each operator becomes nodes that compute the same at inference; values and
/// parameters keep their names. Inputs that are only used in training (labels) are removed; unknown axes stay open. int8 is written as
/// pairs of QuantizeLinear and DequantizeLinear with the same codes and ranges, which must be calibrated. Inline fused floating-point
/// operators first (rewrite::inlineFused()). The opset is 18, or 22 if bfloat16 is used.
/// fails: Unsupported, naming all operators without a counterpart, or an operator that needs an unknown shape
Result<graph::Model> toOnnx(const graph::Model &model, const InputFacts &inputs);

} // namespace halftone::translate
