#include "core/rewrite/rebuild.h"

#include "core/graph/traverse.h"

namespace halftone::rewrite {

using graph::Entry;
using graph::NodeId;

Rebuild::Rebuild(const graph::Graph &source)
    : m_source(source)
    , m_graph(graph::Graph::like(source))
    , m_order(graph::postOrder(source))
    , m_copies(source.nodeCount())
    , m_replacement(source.nodeCount())
{
}

Entry Rebuild::now(const Entry &entry) const
{
    const std::uint32_t replacement = m_replacement[entry.node];
    if (replacement == 0)
        return {m_copies[entry.node], entry.output, entry.version};
    return m_tensors[replacement - 1][entry.output];
}

std::vector<Entry> Rebuild::inputsOf(NodeId id) const
{
    std::vector<Entry> inputs;
    for (const Entry &entry : m_source.inputs(id))
        inputs.push_back(now(entry));
    return inputs;
}

NodeId Rebuild::keep(NodeId id, std::vector<Entry> inputs)
{
    std::vector<NodeId> dependencies;
    for (const NodeId dependency : m_source.controlDependencies(id))
        dependencies.push_back(m_copies[dependency]);
    m_copies[id] = m_graph.add(m_source.sharedNode(id), inputs, dependencies);
    return m_copies[id];
}

void Rebuild::replace(NodeId id, std::vector<Entry> tensors)
{
    m_copies[id] = tensors.front().node;
    m_tensors.push_back(std::move(tensors));
    m_replacement[id] = static_cast<std::uint32_t>(m_tensors.size());
}

graph::Graph Rebuild::finish()
{
    std::vector<Entry> heads;
    for (const Entry &head : m_source.heads())
        heads.push_back(now(head));
    m_graph.setHeads(std::move(heads));
    return std::move(m_graph);
}

} // namespace halftone::rewrite
