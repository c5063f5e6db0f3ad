#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/tensor/tensor.h"

#include <span>

namespace halftone::infer {

/// `shapes` with what arithmetic on shapes says: whole numbers that nodes compute of shapes and constants (Shape, Gather, Slice, Concat,
/// Unsqueeze, sums and products …) are followed element by element, known or not, to the operators that take them as a shape. What is
/// known never changes. Goes once through the main graph, forward; bodies and calls are not looked into.
/// fails  BadInput for shapes that contradict each other (where = the node)
Result<ShapeMap> staticShapes(const graph::Model &model, ShapeMap shapes);

/// The same of a graph whose variables hold these values.
/// constants  by NodeId; of unknown type where a value is not known
Result<ShapeMap> staticShapes(const graph::Graph &graph, std::span<const tensor::Tensor> constants,
                              ShapeMap shapes);

} // namespace halftone::infer
