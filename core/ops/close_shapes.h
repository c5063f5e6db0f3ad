#pragma once

#include "core/ops/operator.h"
#include "core/tensor/tensor.h"

#include <span>
#include <vector>

namespace halftone::ops {

/// Fills in what only values tell of the output's shape: how many slices a mask lets through, how many boxes are kept.
/// inputs  with their values, of the shapes that the operator's rule has accepted
void closeShapes(const Operator &op, std::span<const tensor::Tensor> inputs,
                 std::span<tensor::Shape> outputs);

} // namespace halftone::ops
