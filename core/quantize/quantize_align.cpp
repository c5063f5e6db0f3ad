#include "core/quantize/quantize_align.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/quantize/quantize.h"

#include <queue>

#include <algorithm>
#include <set>

namespace halftone::quantize {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeId;

class Aligning
{
public:
    Aligning(Graph &graph, const dialect::QuantizedForms &forms)
        : m_graph(graph)
        , m_forms(forms)
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

    bool isConcat(NodeId id) const { return read(id).is<ops::Quantized<ops::Concat>>(); }

private:
    ops::Operator read(NodeId id) const
    {
        auto op = dialect::of(m_graph).read(m_graph.node(id));
        return op.ok() ? std::move(op).value() : ops::Operator();
    }

    bool joinsCodes(NodeId id) const { return isConcat(id) || read(id).is<ops::Quantized<ops::Pool>>(); }

    bool hasRange(NodeId id) const
    {
        const ops::CalibratedRange range = m_forms.rangeOf(m_graph.node(id));
        return range.low && range.high
            && !m_forms.isWidened(m_graph.node(id)); // wider than its values already
    }

    void widen(const std::vector<NodeId> &ranged)
    {
        QuantizedRange range;
        for (const NodeId id : ranged) {
            const ops::CalibratedRange ends = m_forms.rangeOf(m_graph.node(id));
            range.low = std::min(range.low, static_cast<float>(*ends.low));
            range.high = std::max(range.high, static_cast<float>(*ends.high));
            m_isTaken[id] = true;
        }
        for (const NodeId id : ranged)
            m_graph.redefine(id, m_forms.withRange(m_graph.node(id), range));
    }

    Graph &m_graph;
    const dialect::QuantizedForms &m_forms;
    std::vector<std::set<NodeId>> m_readers; ///< by NodeId
    std::vector<bool> m_isTaken; ///< by NodeId: widened already
};

} // namespace

void alignConcatRanges(Graph &graph, const dialect::QuantizedForms &forms)
{
    Aligning aligning(graph, forms);
    for (const NodeId id : graph::postOrder(graph)) {
        if (aligning.isConcat(id))
            aligning.alignAt(id);
    }
}

} // namespace halftone::quantize
