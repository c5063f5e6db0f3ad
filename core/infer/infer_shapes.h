#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/tensor/shape.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::infer {

/// The shape of every output of every node (hidden outputs too), by NodeId; what does not follow stays
/// unknown.
struct ShapeMap
{
    std::vector<std::vector<tensor::Shape>> byNode;

    const tensor::Shape &of(const graph::Entry &entry) const { return byNode[entry.node][entry.output]; }
};

/// Shapes of variables by name, wholly or partly.
using KnownShapes = std::unordered_map<std::string, tensor::Shape>;

/// The shapes that follow from those of the variables, forward and backward until nothing new follows, as MXNet's
/// infer_shape_partial does. Bodies of control flow are looked into.
///
/// known  a name that is no variable is ignored; where it says nothing, the variable's own `__shape__` does
/// fails  BadInput for two shapes that contradict each other, or an attribute that cannot be: where = node, found = the
///        input and both shapes. Also for more outputs than the graph's size can account for.
Result<ShapeMap> inferShapes(const graph::Graph &graph, const KnownShapes &known);

/// A map in which every shape is unknown.
ShapeMap unknownShapes(const graph::Graph &graph);

} // namespace halftone::infer
