#pragma once

#include "core/graph/graph.h"
#include "core/tensor/tensor.h"

#include <vector>

namespace halftone::dialect {

/// The real values that nodes of a graph and of the bodies of its control flow hold themselves: weights as exporters write them, and initializers of
/// bodies. Not those of functions, which belong to no graph. What cannot be read is left out.
std::vector<tensor::Tensor> heldReals(const graph::Graph &graph);

/// Of the bodies alone.
std::vector<tensor::Tensor> heldRealsOfBodies(const graph::Graph &graph);

} // namespace halftone::dialect
