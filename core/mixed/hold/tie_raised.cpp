#include "core/mixed/hold/tie_raised.h"

#include "core/dialect/raised_parts.h"
#include "core/mixed/typed_plan.h"

namespace halftone::mixed {

void tieRaised(const graph::Graph &graph, policy::Assignment &assignment)
{
    const std::vector<graph::NodeId> parts = dialect::raisedParts(graph);
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (parts[id] == id || readsShapeAlone(graph, id) || assignment.otherwise.contains(id)
            || policy::isChosen(assignment.nodes[id]))
            continue;
        const auto inFloat = assignment.otherwise.find(parts[id]);
        assignment.nodes[id]
            = inFloat == assignment.otherwise.end() ? assignment.nodes[parts[id]] : inFloat->second;
    }
}

} // namespace halftone::mixed
