#pragma once

#include "core/graph/graph.h"
#include "core/patterns/unit.h"

#include <vector>

namespace halftone::layout {

/// Products of codes that give int32 (MatMulInteger, ConvInteger), each with what makes reals of its result: a Cast, and a Mul by the scales,
/// which a Mul of their own may join. Nothing else reads what is between.
///
/// drawn  by NodeId: other nodes are constants, or stand on edges
std::vector<patterns::Unit> codedProducts(const graph::Graph &graph, const std::vector<char> &drawn);

} // namespace halftone::layout
