#pragma once

#include "core/graph/graph.h"
#include "core/infer/infer_shapes.h"
#include "core/mixed/convert_model.h"

#include <string>

namespace halftone::report {

/// What `convert` reports (app/README.md, "Commands"), as JSON text: counts of casts, every source node with what
/// was asked for it, what it got and why, every cast with the edge that needed it, every parameter that
/// changed its type, the names of the heads before and after, warnings. `shapes`, if not null, adds the shape
/// of each node's first output.
std::string conversionJson(const graph::Graph &source, const mixed::ConvertedModel &converted,
                           const infer::ShapeMap *shapes = nullptr);

} // namespace halftone::report
