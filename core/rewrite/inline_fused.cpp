#include "core/rewrite/inline_fused.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/body_binding.h"
#include "core/rewrite/rebuild.h"

#include <vector>

namespace halftone::rewrite {
namespace {

using graph::Entry;
using graph::NodeId;

/// Puts the nodes of `body` into the new graph; gives what its heads are there.
std::vector<Entry> unfold(Rebuild &rebuild, NodeId id, const infer::BoundBody &body)
{
    const std::vector<Entry> inputs = rebuild.inputsOf(id);
    const graph::Graph &inner = *body.graph;
    std::vector<Entry> firsts(inner.nodeCount());
    for (const infer::BoundBody::Tie &tie : body.ties)
        firsts[tie.variable] = inputs[tie.input];
    const auto now = [&](const Entry &entry) {
        Entry first = firsts[entry.node];
        first.output += inner.isVariable(entry.node) ? 0 : entry.output;
        return first;
    };
    for (const NodeId node : graph::postOrder(inner)) {
        if (inner.isVariable(node))
            continue;
        std::vector<Entry> reads;
        for (const Entry &entry : inner.inputs(node))
            reads.push_back(now(entry));
        firsts[node] = {rebuild.graph().add(inner.sharedNode(node), reads), 0, 0};
    }
    std::vector<Entry> heads;
    for (const Entry &head : inner.heads())
        heads.push_back(now(head));
    return heads;
}

} // namespace

graph::Graph inlineFused(const graph::Graph &graph)
{
    Rebuild rebuild(graph);
    for (const NodeId id : rebuild.order()) {
        const graph::NodeDef &node = graph.node(id);
        if (dialect::roleOf(graph, id) != dialect::NodeRole::Fused || node.subgraphs.size() != 1) {
            rebuild.keep(id);
            continue;
        }
        const auto binding = infer::bindBodies(graph, id, 1);
        const bool fits = binding.ok() && !binding.value().isQuantized && !binding.value().hasFloatOutput
            && binding.value().bodies.size() == 1;
        if (fits)
            rebuild.replace(id, unfold(rebuild, id, binding.value().bodies[0]));
        else
            rebuild.keep(id);
    }
    return rebuild.finish();
}

} // namespace halftone::rewrite
