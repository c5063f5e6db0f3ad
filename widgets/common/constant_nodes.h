#pragma once

#include "core/dialect/dialect.h"

namespace halftone::widgets {

/// Does the node hold a value and compute nothing? A parameter is a variable and no such node.
inline bool isConstantNode(const graph::Graph &graph, graph::NodeId id)
{
    if (graph.isVariable(id) || !graph.inputs(id).empty() || graph.dialect() == nullptr)
        return false;
    const auto held = graph.dialect()->constantOf(graph.node(id));
    return held.ok() && held.value();
}

} // namespace halftone::widgets
