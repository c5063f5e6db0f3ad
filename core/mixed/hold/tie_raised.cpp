#include "core/mixed/hold/tie_raised.h"

#include "core/dialect/dialect.h"
#include "core/dialect/raised_parts.h"

namespace halftone::mixed {
namespace {

/// What has no precision of its own.
bool readsShape(const graph::Graph &graph, graph::NodeId id)
{
    const auto op = dialect::of(graph).readKind(graph.node(id));
    return op.ok() && op.value().is<ops::ShapeOf>();
}

} // namespace

void tieRaised(const graph::Graph &graph, policy::Assignment &assignment)
{
    const std::vector<graph::NodeId> parts = dialect::raisedParts(graph);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (parts[id] == id || readsShape(graph, id) || assignment.otherwise.contains(id)
            || policy::isChosen(assignment.nodes[id]))
            continue;
        const auto inFloat = assignment.otherwise.find(parts[id]);
        assignment.nodes[id]
            = inFloat == assignment.otherwise.end() ? assignment.nodes[parts[id]] : inFloat->second;
    }
}

} // namespace halftone::mixed
