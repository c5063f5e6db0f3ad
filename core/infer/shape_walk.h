#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/infer/infer_shapes.h"

#include <span>

/// Inside of inferShapes(): a graph and the bodies in it call each other here.
namespace halftone::infer {

/// `variables`: shapes of the graph's variables, by NodeId (others are ignored). `depth`: 0 for the model
/// itself.
Result<ShapeMap> walkShapes(const graph::Graph &graph, std::span<const tensor::Shape> variables, int depth);

/// Completes the shapes around a node from its bodies (see bindBodies()); nothing when they lie too deep. `depth`: that
/// of the bodies.
/// returns: true when something was filled in. fails: as inferShapes(), and where a location points nowhere.
Result<bool> inferBodyShapes(const graph::Graph &graph, graph::NodeId id, std::span<tensor::Shape> inputs,
                             std::span<tensor::Shape> outputs, int depth);

} // namespace halftone::infer
