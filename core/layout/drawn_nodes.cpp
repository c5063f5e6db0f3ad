#include "core/layout/drawn_nodes.h"

#include "core/dialect/dialect.h"

#include <string_view>
#include <unordered_set>

namespace halftone::layout {

using graph::NodeId;

std::vector<char> drawnNodes(const graph::Model &model)
{
    const graph::Graph &graph = model.graph;
    std::unordered_set<std::string_view> stored;
    for (const tensor::Array &array : model.parameters)
        stored.insert(dialect::variableOf(graph, array.name));

    std::vector<std::uint32_t> readers(graph.nodeCount(), 0);
    std::vector<char> isFirst(graph.nodeCount(), 0);
    std::vector<NodeId> lastReader(graph.nodeCount(), 0);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const auto inputs = graph.inputs(id);
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const NodeId from = inputs[k].node;
            if (k == 0)
                isFirst[from] = 1;
            if (readers[from] == 0 || lastReader[from] != id)
                ++readers[from];
            lastReader[from] = id;
        }
    }
    std::vector<char> drawn(graph.nodeCount(), 1);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (!graph.isVariable(id) || readers[id] != 1)
            continue;
        const std::string &name = graph.node(id).name;
        if (model.hasParameters)
            drawn[id] = stored.contains(name) ? 0 : 1;
        else
            drawn[id] = isFirst[id] != 0 || name.ends_with("label") ? 1 : 0;
    }
    return drawn;
}

} // namespace halftone::layout
