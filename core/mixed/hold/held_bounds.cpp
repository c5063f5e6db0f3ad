#include "core/mixed/hold/held_bounds.h"

#include "core/dialect/dialect.h"
#include "core/infer/body_binding.h"
#include "core/ops/operator.h"
#include "core/rewrite/nested_conversions.h"
#include "core/tensor/held_above_zero.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using ops::BinaryKind;
using tensor::DType;

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

bool readsNothing(const graph::Graph &graph, NodeId id)
{
    return graph.inputs(id).empty();
}

/// Calls visit(body, tie) for what the bodies of a node are handed.
template <class Visit>
void forTies(const graph::Graph &graph, NodeId id, const Visit &visit)
{
    const graph::NodeDef &node = graph.node(id);
    if (node.subgraphs.empty())
        return;
    const auto outputs = dialect::outputCountOf(dialect::of(graph).findOp(node.op), node);
    const auto binding = infer::bindBodies(graph, id, outputs);
    if (!binding.ok())
        return;
    for (const infer::BoundBody &body : binding.value().bodies)
        for (const infer::BoundBody::Tie &tie : body.ties)
            visit(*body.graph, tie);
}

void findBoundsOfBodies(const graph::Graph &graph, NodeId id, std::vector<bool> &isBound)
{
    std::unordered_map<const graph::Graph *, std::vector<bool>> known;
    forTies(graph, id, [&](const graph::Graph &body, const infer::BoundBody::Tie &tie) {
        const NodeId handed = graph.inputs(id)[tie.input].node;
        if (!readsNothing(graph, handed))
            return;
        const auto [inside, fresh] = known.try_emplace(&body);
        if (fresh)
            inside->second = findBounds(body);
        isBound[handed] = isBound[handed] || inside->second[tie.variable];
    });
}

} // namespace

std::vector<bool> findBounds(const graph::Graph &graph)
{
    std::vector<bool> isBound(graph.nodeCount(), false);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const auto inputs = graph.inputs(id);
        const auto isHeld = [&](const graph::Entry &entry) { return readsNothing(graph, entry.node); };
        if (graph.isVariable(id) || std::ranges::none_of(inputs, isHeld))
            continue;
        findBoundsOfBodies(graph, id, isBound);
        const auto op = dialect::of(graph).readKind(graph.node(id));
        for (std::size_t i = 0; op.ok() && i < inputs.size(); ++i)
            if (isHeld(inputs[i]) && isBoundIn(op.value(), graph.node(id).slotOf(i)))
                isBound[inputs[i].node] = true;
    }
    return isBound;
}

std::optional<tensor::Tensor> HeldBounds::held(NodeId node, const tensor::Tensor &values, DType to,
                                               DType stored)
{
    auto held = m_isOn ? tensor::heldAboveZero(values, to, stored) : std::nullopt;
    if (held && m_isBound.empty())
        m_isBound = findBounds(m_source);
    return held && m_isBound[node] ? std::move(held) : std::nullopt;
}

std::vector<DType> narrowedTypes(const graph::Graph &source, const rewrite::Conversion &conversion)
{
    std::vector<DType> types(source.nodeCount(), DType::Unknown);
    for (const rewrite::InsertedCast &cast : conversion.casts)
        if (tensor::isHalf(cast.type) && readsNothing(source, cast.tensor.node))
            types[cast.tensor.node] = cast.type;
    addNarrowedInBodies(source, conversion.bodies, types);
    return types;
}

void addNarrowedInBodies(const graph::Graph &source, std::span<const rewrite::ConvertedBody> bodies,
                         std::vector<DType> &types)
{
    for (const rewrite::ConvertedBody &converted : bodies) {
        const graph::Graph &original = *source.node(converted.node).subgraphs[converted.body];
        const std::vector<DType> inside = narrowedTypes(original, converted.conversion);
        forTies(source, converted.node, [&](const graph::Graph &body, const infer::BoundBody::Tie &tie) {
            const NodeId handed = source.inputs(converted.node)[tie.input].node;
            if (&body == &original && inside[tie.variable] != DType::Unknown && readsNothing(source, handed))
                types[handed] = inside[tie.variable];
        });
    }
}

} // namespace halftone::mixed
