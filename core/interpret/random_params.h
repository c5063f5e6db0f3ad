#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/tensor/shape.h"

#include <cstdint>

namespace halftone::interpret {

/// The model with parameters drawn at random: for timing and for trying things out without weights. Shapes follow from
/// the inputs'; values are such that a deep network neither dies out nor overflows: weights normal with variance
/// 2 / fan-in (He et al. 2015), gamma and variances 1, biases, betas and means 0. The same seed gives the same values,
/// whatever order the graph is in. Everything but `inputs` and labels counts as a parameter; what the model has stays.
/// fails: BadInput for shapes that contradict each other or don't follow; where = the variable.
Result<graph::Model> withRandomParameters(const graph::Model &model, const infer::KnownShapes &inputs,
                                          std::uint64_t seed);

} // namespace halftone::interpret
