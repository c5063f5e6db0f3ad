#pragma once

#include "core/graph/model.h"
#include "core/policy/assignment.h"
#include "core/tensor/dtype.h"

#include <span>

namespace halftone::mixed {

/// Holds normalizations in float32 whose stored mean or variance is beyond the range of `target`, where the operator would read
/// it in that type (ONNX below opset 14; core/mixed/RULES.md, M-statistics). What a person decided stays.
/// parameters: those of the graph; of a body none, whose initializers are constants
void keepNormalizationInFloat32(const graph::Graph &graph, std::span<const tensor::Array> parameters,
                                tensor::DType target, policy::Assignment &assignment);

} // namespace halftone::mixed
