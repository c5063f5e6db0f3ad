#include "tests/support/typed/graph_edit.h"

#include "core/graph/traverse.h"

namespace halftone::test {

using graph::Entry;
using graph::Graph;
using graph::NodeId;

Graph reordered(const Graph &graph, std::span<const NodeId> order)
{
    Graph result = Graph::like(graph);
    std::vector<NodeId> copies(graph.nodeCount());
    for (const NodeId id : order) {
        std::vector<Entry> inputs;
        for (const Entry &entry : graph.inputs(id))
            inputs.push_back({copies[entry.node], entry.output, entry.version});
        std::vector<NodeId> dependencies;
        for (const NodeId dependency : graph.controlDependencies(id))
            dependencies.push_back(copies[dependency]);
        copies[id] = result.add(graph.sharedNode(id), inputs, dependencies);
    }
    std::vector<Entry> heads;
    for (const Entry &head : graph.heads())
        heads.push_back({copies[head.node], head.output, head.version});
    result.setHeads(std::move(heads));
    return result;
}

Graph pruned(const Graph &graph)
{
    return reordered(graph, graph::postOrder(graph));
}

Graph permuted(const Graph &graph, Random &random)
{
    std::vector<std::vector<NodeId>> readers(graph.nodeCount());
    std::vector<std::size_t> missing(graph.nodeCount());
    std::vector<NodeId> ready;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        for (const Entry &entry : graph.inputs(id))
            readers[entry.node].push_back(id);
        for (const NodeId dependency : graph.controlDependencies(id))
            readers[dependency].push_back(id);
        missing[id] = graph.inputs(id).size() + graph.controlDependencies(id).size();
        if (missing[id] == 0)
            ready.push_back(id);
    }
    std::vector<NodeId> order;
    while (!ready.empty()) {
        std::swap(ready[random.below(ready.size())], ready.back());
        const NodeId id = ready.back();
        ready.pop_back();
        order.push_back(id);
        for (const NodeId reader : readers[id]) {
            if (--missing[reader] == 0)
                ready.push_back(reader);
        }
    }
    return reordered(graph, order);
}

} // namespace halftone::test
