#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace halftone::rewrite {

/// A graph built anew from another one, node by node in depth-first order from the heads, some nodes replaced
/// by tensors that are there already: the shared half of the passes that remove nodes.
class Rebuild
{
public:
    explicit Rebuild(const graph::Graph &source);

    /// The source's nodes that a head needs, each after its inputs.
    const std::vector<graph::NodeId> &order() const { return m_order; }

    /// What stands for a tensor of the source now. Needs: its node was kept or replaced.
    graph::Entry now(const graph::Entry &entry) const;
    std::vector<graph::Entry> inputsOf(graph::NodeId id) const;

    /// Copies the node with its inputs as they stand now.
    graph::NodeId keep(graph::NodeId id) { return keep(id, inputsOf(id)); }
    graph::NodeId keep(graph::NodeId id, std::vector<graph::Entry> inputs);
    /// Drops the node: its output k is `tensors[k]` (in the new graph), and who depended on it depends on the
    /// first one's node.
    void replace(graph::NodeId id, std::vector<graph::Entry> tensors);

    graph::Graph &graph() { return m_graph; }
    const graph::Graph &graph() const { return m_graph; }
    /// Sets the heads as they stand now and gives the graph away.
    graph::Graph finish();

private:
    const graph::Graph &m_source;
    graph::Graph m_graph;
    std::vector<graph::NodeId> m_order;
    std::vector<graph::NodeId>
        m_copies; ///< by source NodeId; of a replaced node: the node that stands for it
    std::vector<std::uint32_t> m_replacement; ///< by source NodeId: index into m_tensors + 1; 0: kept
    std::vector<std::vector<graph::Entry>> m_tensors;
};

} // namespace halftone::rewrite
