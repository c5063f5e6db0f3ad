#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/infer/type_map.h"

#include <span>

namespace halftone::infer {

/// Infers element types from those of the variables, forward and backward until nothing changes, like MXNet's infer_type.
/// Includes bodies of control flow and of fused operators. Types that cannot be inferred stay Unknown: outputs of unknown
/// operators, and of bodies nested deeper than four.
///
/// variables  by NodeId; Unknown (or a shorter span) if the type is open; entries of other nodes are ignored
/// fails      BadInput for contradictory types: where = node, found = the input and all types
Result<TypeMap> inferTypes(const graph::Graph &graph, std::span<const tensor::DType> variables);

} // namespace halftone::infer
