#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

#include <string>
#include <unordered_map>

namespace halftone::translate {

/// What is known of a model's inputs, by name.
struct InputFacts
{
    infer::KnownShapes shapes{};
    std::unordered_map<std::string, tensor::DType> types{};
};

/// A model of another format as one of ONNX: each operator as the nodes that compute the same at inference, values and
/// parameters with their names. Inputs that only training reads (labels) are left out; axes that are not known are open.
/// int8 is written as pairs of QuantizeLinear and DequantizeLinear with the same codes of parameters and ranges; each has to know its
/// range before it runs. Fused operators on reals are none of ours: rewrite::inlineFused() first.
/// The opset is 18, and 22 where anything is in bfloat16.
/// fails: Unsupported, naming all operators without a counterpart; or where an operator needs a shape that is not known
Result<graph::Model> toOnnx(const graph::Model &model, const InputFacts &inputs);

} // namespace halftone::translate
