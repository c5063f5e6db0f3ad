#include "core/rewrite/twins.h"

#include "core/dialect/dialect.h"

#include <algorithm>
#include <bit>

namespace halftone::rewrite {

using graph::Entry;
using graph::NodeId;

namespace {

/// One step of a multiply-and-fold hash; inputs of one graph are small numbers, so every bit has to spread.
std::uint64_t mix(std::uint64_t hash, std::uint64_t value)
{
    hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 32);
}

std::uint64_t hashOf(std::uint64_t op, std::uint64_t kind, std::span<const Entry> inputs)
{
    std::uint64_t hash = mix(op, kind);
    for (const Entry &entry : inputs)
        hash = mix(mix(hash, std::uint64_t{entry.node} << 32 | entry.output), entry.version);
    return hash;
}

} // namespace

Twins::Twins(const graph::Graph &graph)
    : m_graph(graph)
    , m_table(std::bit_ceil(graph.nodeCount() * 2 + 1), 0)
{
    for (graph::OpIndex op = 0; op < graph.operatorNames().size(); ++op) {
        const dialect::OpInfo *const info
            = graph.isVariableOp(op) ? nullptr : dialect::of(graph).findOp(graph.operatorNames()[op]);
        m_mayMerge.push_back(info != nullptr && info->mayMerge());
    }
}

NodeId Twins::findOrAdd(NodeId id, std::span<const Entry> inputs, std::uint32_t kind)
{
    if (!m_mayMerge[m_graph.opOf(id)] || inputs.empty() || !m_graph.node(id).subgraphs.empty())
        return id;
    const std::uint64_t hash = hashOf(m_graph.opOf(id), kind, inputs);
    std::size_t at = hash & (m_table.size() - 1);
    for (; m_table[at] != 0; at = (at + 1) & (m_table.size() - 1)) {
        const Record &record = m_records[m_table[at] - 1];
        if (record.hash == hash && record.kind == kind && isTwin(record, id, inputs))
            return record.node;
    }
    m_records.push_back({hash, id, kind, static_cast<std::uint32_t>(m_inputs.size())});
    m_inputs.insert(m_inputs.end(), inputs.begin(), inputs.end());
    m_table[at] = static_cast<std::uint32_t>(m_records.size());
    return id;
}

bool Twins::isTwin(const Record &record, NodeId id, std::span<const Entry> inputs) const
{
    const graph::NodeDef &one = m_graph.node(record.node);
    const graph::NodeDef &other = m_graph.node(id);
    if (m_graph.opOf(record.node) != m_graph.opOf(id) || m_graph.inputs(record.node).size() != inputs.size()
        || !std::equal(inputs.begin(), inputs.end(), m_inputs.begin() + record.firstInput))
        return false;
    const dialect::Dialect &dialect = dialect::of(m_graph);
    return one.attributes == other.attributes || dialect.attributeKey(one) == dialect.attributeKey(other);
}

} // namespace halftone::rewrite
