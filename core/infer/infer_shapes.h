#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/tensor/shape.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::infer {

/// The shapes of all outputs of all nodes (including hidden ones), by NodeId; unknown where they cannot be inferred.
struct ShapeMap
{
    std::vector<std::vector<tensor::Shape>> byNode;

    const tensor::Shape &of(const graph::Entry &entry) const { return byNode[entry.node][entry.output]; }
};

/// Complete or partial shapes of variables, by name.
using KnownShapes = std::unordered_map<std::string, tensor::Shape>;

/// Infers shapes from those of the variables, forward and backward until nothing changes, like MXNet's
/// infer_shape_partial. Includes bodies of control flow.
///
/// known  names that are not variables are ignored; unlisted variables use their own `__shape__`
/// fails  BadInput for contradictory shapes or an invalid attribute: where = node, found = the input and both shapes. Also for more
///        outputs than the size of the graph allows.
Result<ShapeMap> inferShapes(const graph::Graph &graph, const KnownShapes &known);

/// A map in which every shape is unknown.
ShapeMap unknownShapes(const graph::Graph &graph);

} // namespace halftone::infer
