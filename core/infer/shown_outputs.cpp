#include "core/infer/shown_outputs.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"

#include <algorithm>

namespace halftone::infer {

std::vector<std::size_t> shownOutputs(const graph::Graph &graph)
{
    const std::vector<std::uint32_t> referenced = graph::referencedOutputs(graph);
    std::vector<std::size_t> shown(referenced.begin(), referenced.end());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const dialect::OpInfo *info
            = graph.isVariable(id) ? nullptr : dialect::of(graph).findOp(graph.node(id).op);
        if (info)
            shown[id] = std::max({shown[id], info->visibleOutputCount(graph.node(id).attributes),
                                  graph.node(id).outputs.size()});
    }
    return shown;
}

std::string valueName(const graph::Graph &graph, graph::NodeId node, std::size_t output)
{
    const std::string &name = graph.node(node).name;
    return output == 0 ? name : name + ':' + std::to_string(output);
}

} // namespace halftone::infer
