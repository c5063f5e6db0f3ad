#pragma once

#include "core/graph/graph.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace halftone::runtimes {

/// A node of the model that a runtime's name stands for.
struct NamedNode
{
    graph::NodeId node = 0;
    bool isFreed
        = false; ///< by the name that a cast of the node's value has, or what writes that value in the cast's place
};

/// Finds nodes by the names that runtimes make of ours: they add endings ("_token_5", "_nchwc", "/WithoutBiases") and beginnings, and name some
/// nodes after the tensor that they give.
class NodeNames
{
public:
    explicit NodeNames(const graph::Graph &graph);

    /// Absent: no rule names a node.
    std::optional<NamedNode> find(std::string_view name) const;

private:
    std::optional<graph::NodeId> exact(std::string_view name) const;
    std::optional<graph::NodeId> ofTensor(std::string_view name) const;

    std::unordered_map<std::string, graph::NodeId> m_nodes;
    std::unordered_map<std::string, graph::NodeId> m_tensors;
};

} // namespace halftone::runtimes
