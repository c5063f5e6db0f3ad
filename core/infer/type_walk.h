#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/infer/type_map.h"

#include <span>

/// Inside of inferTypes() and NodeTypes: a graph and the bodies in it call each other here.
namespace halftone::infer {

/// What is known of a graph's types from outside.
struct KnownTypes
{
    std::span<const tensor::DType> variables; ///< by NodeId; entries of other nodes are ignored
    std::span<const tensor::DType> heads; ///< by position
};

/// inferTypes(). `depth`: 0 for the model itself.
Result<TypeMap> walkTypes(const graph::Graph &graph, const KnownTypes &known, int depth);

/// Completes the types around a node from its bodies. `depth`: that of the bodies.
/// returns: false when the operator's own rule has the last word: the bodies say nothing (see bindBodies()), or not what the
/// outputs are (quantized ones, or with a cast inside), or lie too deep.
/// fails: two types contradict each other in a body or around it: where = node of the body, or empty.
Result<bool> inferBodyTypes(const graph::Graph &graph, graph::NodeId id, std::span<tensor::DType> inputs,
                            std::span<tensor::DType> outputs, int depth);

} // namespace halftone::infer
