#pragma once

#include "core/dialect/dialect.h"

#include <vector>

namespace halftone::widgets {

/// Does the node hold a value and compute nothing? A parameter is a variable and no such node.
inline bool isConstantNode(const graph::Graph &graph, graph::NodeId id)
{
    if (graph.isVariable(id) || !graph.inputs(id).empty() || graph.dialect() == nullptr)
        return false;
    const auto held = graph.dialect()->constantOf(graph.node(id));
    return held.ok() && held.value();
}

/// The operators that are counted wherever a model's operators are told: neither variables nor constants.
inline std::vector<graph::NodeId> computingNodes(const graph::Graph &graph)
{
    std::vector<graph::NodeId> nodes;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id) && !isConstantNode(graph, id))
            nodes.push_back(id);
    }
    return nodes;
}

} // namespace halftone::widgets
