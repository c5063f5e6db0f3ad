#include "core/dialect/calls.h"

#include "core/dialect/dialect.h"

namespace halftone::dialect {

bool isCall(const graph::Graph &graph, graph::NodeId id)
{
    if (graph.node(id).subgraphs.size() != 1)
        return false;
    const auto op = of(graph).read(graph.node(id));
    const auto *const flow = op.ok() ? op.value().getIf<ops::ControlFlow>() : nullptr;
    return flow != nullptr && flow->kind == ops::ControlFlow::Kind::Call;
}

} // namespace halftone::dialect
