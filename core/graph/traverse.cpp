#include "core/graph/traverse.h"

#include <algorithm>

namespace halftone::graph {
namespace {

NodesByName byName(const Graph &graph, bool areVariables)
{
    NodesByName nodes;
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.isVariable(id) == areVariables)
            nodes.emplace(graph.node(id).name, id);
    return nodes;
}

} // namespace

std::vector<NodeId> postOrder(const Graph &graph)
{
    struct Frame
    {
        NodeId node;
        std::uint32_t next; ///< of inputs, then of control dependencies
    };
    std::vector<NodeId> order;
    order.reserve(graph.nodeCount());
    std::vector<bool> seen(graph.nodeCount());
    std::vector<Frame> stack;
    const auto enter = [&](NodeId id) {
        if (!seen[id]) {
            seen[id] = true;
            stack.push_back({id, 0});
        }
    };
    for (const Entry &head : graph.heads()) {
        enter(head.node);
        while (!stack.empty()) {
            Frame &frame = stack.back();
            const auto inputs = graph.inputs(frame.node);
            if (frame.next < inputs.size()) {
                enter(inputs[frame.next++].node);
                continue;
            }
            const auto dependencies = graph.controlDependencies(frame.node);
            if (const std::size_t k = frame.next - inputs.size(); k < dependencies.size()) {
                ++frame.next;
                enter(dependencies[k]);
                continue;
            }
            order.push_back(frame.node);
            stack.pop_back();
        }
    }
    return order;
}

std::vector<std::uint32_t> referencedOutputs(const Graph &graph)
{
    std::vector<std::uint32_t> counts(graph.nodeCount(), 1);
    const auto note = [&counts](const Entry &entry) {
        counts[entry.node] = std::max(counts[entry.node], entry.output + 1);
    };
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        std::ranges::for_each(graph.inputs(id), note);
    std::ranges::for_each(graph.heads(), note);
    return counts;
}

NodesByName operatorsByName(const Graph &graph)
{
    return byName(graph, false);
}

NodesByName variablesByName(const Graph &graph)
{
    return byName(graph, true);
}

} // namespace halftone::graph
