#include "core/graph/graph.h"

#include <algorithm>
#include <cassert>

namespace halftone::graph {

OpIndex Graph::indexOf(const std::string &op)
{
    // Neighbours are often alike, and networks have few operators: look at the newest before hashing.
    if (!m_nodes.empty()) {
        if (const OpIndex last = m_nodes.back().op; m_opNames[last] == op)
            return last;
    }
    const auto [found, isNew] = m_opIndex.try_emplace(op, static_cast<OpIndex>(m_opNames.size()));
    if (isNew) {
        m_opNames.push_back(op);
        if (op == kVariableOp)
            m_variableOp = found->second;
    }
    return found->second;
}

NodeId Graph::add(NodeDefPtr def, std::span<const Entry> inputs, std::span<const NodeId> controlDependencies)
{
    const auto id = static_cast<NodeId>(m_nodes.size());
    assert(std::all_of(inputs.begin(), inputs.end(), [id](const Entry &e) { return e.node < id; }));
    assert(std::all_of(controlDependencies.begin(), controlDependencies.end(),
                       [id](NodeId d) { return d < id; }));
    const OpIndex op = indexOf(def->op);
    m_nodes.push_back({std::move(def), static_cast<std::uint32_t>(m_inputs.size()),
                       static_cast<std::uint32_t>(inputs.size()), op});
    m_inputs.insert(m_inputs.end(), inputs.begin(), inputs.end());
    if (!controlDependencies.empty())
        m_controlDependencies.try_emplace(id, controlDependencies.begin(), controlDependencies.end());
    return id;
}

void Graph::redefine(NodeId id, NodeDefPtr def)
{
    assert(def->op == node(id).op);
    m_nodes[id].def = std::move(def);
}

void Graph::reserve(std::size_t nodes, std::size_t inputs)
{
    m_nodes.reserve(nodes);
    m_inputs.reserve(inputs);
}

std::span<const Entry> Graph::inputs(NodeId id) const
{
    const Row &row = m_nodes[id];
    return std::span(m_inputs).subspan(row.firstInput, row.inputCount);
}

std::span<const NodeId> Graph::controlDependencies(NodeId id) const
{
    const auto found = m_controlDependencies.find(id);
    return found == m_controlDependencies.end() ? std::span<const NodeId>()
                                                : std::span<const NodeId>(found->second);
}

} // namespace halftone::graph
