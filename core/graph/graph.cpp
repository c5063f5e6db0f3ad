#include "core/graph/graph.h"

#include <algorithm>
#include <cassert>

namespace halftone::graph {

const tensor::Tensor *NodeDef::tensorOf(std::string_view key) const
{
    const auto found = std::ranges::find(tensors, key, &std::pair<std::string, tensor::Tensor>::first);
    return found == tensors.end() ? nullptr : &found->second;
}

Graph Graph::like(const Graph &other)
{
    Graph graph;
    graph.m_dialect = other.m_dialect;
    graph.m_metadata = other.m_metadata;
    graph.m_format = other.m_format;
    return graph;
}

Graph Graph::inDialect(const Graph &graph, const dialect::Dialect &dialect, const TakeOver &takeOver)
{
    Graph copy = graph;
    copy.m_dialect = &dialect;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        NodeDefPtr &taken = copy.m_nodes[id].def;
        taken = takeOver(graph, id);
        copy.m_nodes[id].op = copy.indexOf(*taken);
        if (taken->subgraphs.empty())
            continue;
        auto def = std::make_shared<NodeDef>(*taken);
        for (auto &body : def->subgraphs)
            if (body->m_dialect == graph.m_dialect) // a function may be of another version
                body = std::make_shared<const Graph>(inDialect(*body, dialect, takeOver));
        taken = std::move(def);
    }
    return copy;
}

OpIndex Graph::indexOf(const NodeDef &def)
{
    if (def.isVariable()) { // apart from an operator that may be called alike
        if (m_variableOp == kNoOp) {
            m_variableOp = static_cast<OpIndex>(m_opNames.size());
            m_opNames.push_back(def.op);
        }
        return m_variableOp;
    }
    // Neighbours are often alike, and networks have few operators: look at the newest before hashing.
    if (!m_nodes.empty()) {
        if (const OpIndex last = m_nodes.back().op; last != m_variableOp && m_opNames[last] == def.op)
            return last;
    }
    const auto [found, isNew] = m_opIndex.try_emplace(def.op, static_cast<OpIndex>(m_opNames.size()));
    if (isNew)
        m_opNames.push_back(def.op);
    return found->second;
}

NodeId Graph::add(NodeDefPtr def, std::span<const Entry> inputs, std::span<const NodeId> controlDependencies)
{
    const auto id = static_cast<NodeId>(m_nodes.size());
    assert(std::all_of(inputs.begin(), inputs.end(), [id](const Entry &e) { return e.node < id; }));
    assert(std::all_of(controlDependencies.begin(), controlDependencies.end(),
                       [id](NodeId d) { return d < id; }));
    const OpIndex op = indexOf(*def);
    m_nodes.push_back({std::move(def), static_cast<std::uint32_t>(m_inputs.size()),
                       static_cast<std::uint32_t>(inputs.size()), op});
    m_inputs.insert(m_inputs.end(), inputs.begin(), inputs.end());
    if (!controlDependencies.empty())
        m_controlDependencies.try_emplace(id, controlDependencies.begin(), controlDependencies.end());
    return id;
}

void Graph::redefine(NodeId id, NodeDefPtr def)
{
    assert(def->op == node(id).op && def->isVariable() == node(id).isVariable());
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
