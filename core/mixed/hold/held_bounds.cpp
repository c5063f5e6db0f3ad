#include "core/mixed/hold/held_bounds.h"

#include "core/dialect/dialect.h"
#include "core/ops/operator.h"

#include <algorithm>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using ops::BinaryKind;

/// Does the operator read a bound in that slot?
bool isBoundIn(const ops::Operator &op, std::size_t slot)
{
    if (const auto *binary = op.getIf<ops::Binary>())
        return binary->kind == BinaryKind::Add || binary->kind == BinaryKind::Maximum
            || (binary->kind == BinaryKind::Div && slot == 1);
    if (const auto *join = op.getIf<ops::Join>())
        return join->kind == ops::Join::Kind::Maximum || join->kind == ops::Join::Kind::Sum;
    return (op.is<ops::ClipBetween>() && slot == 1) || (op.is<ops::Where>() && slot > 0);
}

} // namespace

std::vector<bool> findBounds(const graph::Graph &graph)
{
    std::vector<bool> isBound(graph.nodeCount(), false);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const auto inputs = graph.inputs(id);
        const auto isHeld = [&](const graph::Entry &entry) { return graph.inputs(entry.node).empty(); };
        if (graph.isVariable(id) || std::ranges::none_of(inputs, isHeld))
            continue;
        const auto op = dialect::of(graph).readKind(graph.node(id));
        for (std::size_t i = 0; op.ok() && i < inputs.size(); ++i)
            if (isHeld(inputs[i]) && isBoundIn(op.value(), graph.node(id).slotOf(i)))
                isBound[inputs[i].node] = true;
    }
    return isBound;
}

} // namespace halftone::mixed
