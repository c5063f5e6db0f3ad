#include "core/passes/quantize_align.h"

#include "core/base/text.h"
#include "core/graph/traverse.h"
#include "core/passes/quantize_text.h"

#include <queue>

#include <algorithm>
#include <set>

namespace halftone::passes {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;

class Aligning
{
public:
    explicit Aligning(Graph &graph)
        : m_graph(graph)
        , m_readers(graph.nodeCount())
        , m_isTaken(graph.nodeCount())
    {
        for (NodeId id = 0; id < graph.nodeCount(); ++id) {
            for (const Entry &entry : graph.inputs(id))
                m_readers[entry.node].insert(id);
        }
    }

    void alignAt(NodeId concat)
    {
        if (m_isTaken[concat])
            return;
        std::vector<NodeId> ranged;
        std::set<NodeId> joins{concat}; ///< concatenations and pools that only move codes
        std::set<NodeId> seen{concat};
        std::queue<NodeId> open;
        open.push(concat);
        const bool goesOn = m_readers[concat].size() <= 1;
        while (!open.empty()) {
            const NodeId id = open.front();
            open.pop();
            if (!joins.contains(id))
                continue;
            for (const Entry &entry : m_graph.inputs(id)) {
                if (seen.contains(entry.node) || m_isTaken[entry.node] || m_graph.isVariable(entry.node)
                    || !std::ranges::includes(joins, m_readers[entry.node]))
                    continue;
                if (hasRange(entry.node))
                    ranged.push_back(entry.node);
                else if (joinsCodes(entry.node))
                    joins.insert(entry.node);
                else
                    continue;
                seen.insert(entry.node);
                open.push(entry.node);
            }
            for (const NodeId reader : m_readers[id]) {
                if (goesOn && !seen.contains(reader) && !m_isTaken[reader] && joinsCodes(reader)) {
                    joins.insert(reader);
                    seen.insert(reader);
                    open.push(reader);
                }
            }
        }
        if (ranged.size() > 1)
            widen(ranged);
    }

private:
    bool joinsCodes(NodeId id) const
    {
        const std::string &op = m_graph.node(id).op;
        return op == "_contrib_quantized_concat" || op == "_contrib_quantized_pooling";
    }

    bool hasRange(NodeId id) const
    {
        const graph::Attributes &attributes = m_graph.node(id).attributes;
        return attributes.find("min_calib_range") && attributes.find("max_calib_range");
    }

    float end(NodeId id, std::string_view key) const
    {
        return static_cast<float>(parseReal(*m_graph.node(id).attributes.find(key)).value_or(0));
    }

    void widen(const std::vector<NodeId> &ranged)
    {
        QuantizedRange range;
        for (const NodeId id : ranged) {
            range.low = std::min(range.low, end(id, "min_calib_range"));
            range.high = std::max(range.high, end(id, "max_calib_range"));
            m_isTaken[id] = true;
        }
        for (const NodeId id : ranged) {
            auto def = std::make_shared<NodeDef>(m_graph.node(id));
            setCalibratedRange(def->attributes, range);
            m_graph.redefine(id, std::move(def));
        }
    }

    Graph &m_graph;
    std::vector<std::set<NodeId>> m_readers; ///< by NodeId
    std::vector<bool> m_isTaken; ///< by NodeId: widened already
};

} // namespace

void alignConcatRanges(Graph &graph)
{
    Aligning aligning(graph);
    for (const NodeId id : graph::postOrder(graph)) {
        if (graph.node(id).op == "_contrib_quantized_concat")
            aligning.alignAt(id);
    }
}

} // namespace halftone::passes
