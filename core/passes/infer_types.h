#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/passes/type_map.h"

#include <span>

namespace halftone::passes {

/// The element types that follow from the types of the variables, forward and backward until nothing new follows,
/// as MXNet's infer_type does. What does not follow stays open: outputs of unknown operators and of control flow,
/// whose bodies are not looked into.
///
/// variables  by NodeId; Unknown (or a shorter span) where the type is open; entries of other nodes are ignored
/// fails      BadInput for two types that contradict each other: where = node, found = the input and all types
Result<TypeMap> inferTypes(const graph::Graph &graph, std::span<const tensor::DType> variables);

} // namespace halftone::passes
