#pragma once

#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"

namespace halftone::infer {

/// `known` and, for variables that it does not name, the shapes of the model's parameters.
KnownShapes withParameterShapes(KnownShapes known, const graph::Model &model);

/// The shapes of all variables, by name; those that did not follow have no rank.
KnownShapes variableShapes(const graph::Graph &graph, const ShapeMap &shapes);

} // namespace halftone::infer
