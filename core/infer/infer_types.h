#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/infer/type_map.h"

#include <span>

namespace halftone::infer {

/// The element types that follow from the types of the variables, forward and backward until nothing new follows,
/// as MXNet's infer_type does. Bodies of control flow and of fused operators are looked into. What does not follow stays
/// open: outputs of unknown operators, and of bodies nested deeper than four.
///
/// variables  by NodeId; Unknown (or a shorter span) where the type is open; entries of other nodes are ignored
/// fails      BadInput for two types that contradict each other: where = node, found = the input and all types
Result<TypeMap> inferTypes(const graph::Graph &graph, std::span<const tensor::DType> variables);

} // namespace halftone::infer
