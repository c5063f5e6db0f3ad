#include "core/dialect/held_reals.h"

#include "core/dialect/calls.h"
#include "core/dialect/dialect.h"

namespace halftone::dialect {
namespace {

void collectHeld(const graph::Graph &graph, bool isBody, std::vector<tensor::Tensor> &held)
{
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (!node.subgraphs.empty() && !isCall(graph, id))
            for (const auto &body : node.subgraphs)
                collectHeld(*body, true, held);
        if (!isBody || node.isVariable() || !graph.inputs(id).empty())
            continue;
        const auto value = of(graph).constantOf(node);
        if (value.ok() && value.value() && tensor::isFloat(value.value()->dtype()))
            held.push_back(*value.value());
    }
}

} // namespace

std::vector<tensor::Tensor> heldReals(const graph::Graph &graph)
{
    std::vector<tensor::Tensor> held;
    collectHeld(graph, true, held);
    return held;
}

std::vector<tensor::Tensor> heldRealsOfBodies(const graph::Graph &graph)
{
    std::vector<tensor::Tensor> held;
    collectHeld(graph, false, held);
    return held;
}

} // namespace halftone::dialect
