#include "core/walks/value_names.h"

#include "core/infer/shown_outputs.h"
#include "core/rewrite/unique_names.h"

namespace halftone::walks {

std::vector<std::vector<std::string>> valueNames(const graph::Graph &graph)
{
    // Nodes may be called alike, and one as another's further output.
    rewrite::UniqueNames unique;
    const std::vector<std::size_t> shown = infer::shownOutputs(graph);
    std::vector<std::vector<std::string>> names(graph.nodeCount());
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        for (std::size_t k = 0; k < shown[id]; ++k)
            names[id].push_back(unique.take(infer::valueName(graph, id, k)));
    }
    return names;
}

} // namespace halftone::walks
