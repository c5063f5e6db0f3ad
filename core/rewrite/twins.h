#pragma once

#include "core/graph/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace halftone::rewrite {

/// Finds nodes that compute the same as an earlier one: same operator, attributes of equal meaning, same inputs in the
/// same order (core/mixed/RULES.md, M-share). Nodes without inputs, with bodies, and those that draw random numbers,
/// keep state or write to an input have no twin (dialect::OpInfo::mayMerge).
class Twins
{
public:
    /// Keeps a reference: the graph must outlive it.
    explicit Twins(const graph::Graph &graph);

    /// The first node given that computes the same as `id`; `id` itself when there is none.
    /// inputs  what the node reads, in terms in which equal tensors are equal entries
    /// kind    nodes of different kinds are no twins
    graph::NodeId findOrAdd(graph::NodeId id, std::span<const graph::Entry> inputs, std::uint32_t kind = 0);

private:
    struct Record
    {
        std::uint64_t hash = 0;
        graph::NodeId node = 0;
        std::uint32_t kind = 0;
        std::uint32_t firstInput = 0; ///< in m_inputs
    };

    bool isTwin(const Record &record, graph::NodeId id, std::span<const graph::Entry> inputs) const;

    const graph::Graph &m_graph;
    std::vector<bool> m_mayMerge; ///< by OpIndex
    std::vector<Record> m_records;
    std::vector<graph::Entry> m_inputs;
    std::vector<std::uint32_t> m_table; ///< open addressing: index into m_records + 1, 0 is free
};

} // namespace halftone::rewrite
