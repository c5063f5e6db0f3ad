#include "core/infer/node_types.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/type_walk.h"

#include <algorithm>

namespace halftone::infer {

using graph::NodeId;
using ops::TypeOutcome;
using tensor::DType;

namespace {

bool allKnown(std::span<const DType> types)
{
    return std::ranges::find(types, DType::Unknown) == types.end();
}

bool hasAllSlots(const graph::NodeDef &node)
{
    return node.slots.empty() || node.slots.back() + 1 == node.slots.size();
}

/// Of a node whose optional inputs are partly absent: the rule sees them as open.
TypeOutcome applyBySlot(const graph::NodeDef &node, const ops::TypeRule &rule, std::span<DType> inputs,
                        std::span<DType> outputs, std::size_t *where)
{
    std::size_t slots = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        slots = std::max(slots, node.slotOf(i) + 1);
    std::vector<DType> bySlot(slots, DType::Unknown);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        bySlot[node.slotOf(i)] = inputs[i];
    std::size_t place = 0;
    const TypeOutcome outcome = rule.apply(bySlot, outputs, &place);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        inputs[i] = bySlot[node.slotOf(i)];
        if (where != nullptr && place == node.slotOf(i))
            *where = i;
    }
    if (where != nullptr && place >= slots)
        *where = inputs.size() + (place - slots);
    return outcome;
}

} // namespace

NodeTypes::NodeTypes(const graph::Graph &graph, int depth)
    : m_graph(graph)
    , m_depth(depth)
    , m_referenced(graph::referencedOutputs(graph))
    , m_outputs(m_referenced.size(), 0)
{
    for (graph::OpIndex op = 0; op < graph.operatorNames().size(); ++op)
        m_ops.push_back(graph.isVariableOp(op) ? nullptr
                                               : dialect::of(graph).findOp(graph.operatorNames()[op]));
}

bool NodeTypes::isMutable(NodeId id, std::size_t input) const
{
    return op(id) != nullptr && op(id)->isMutableInput(input);
}

std::uint32_t NodeTypes::outputCount(NodeId id) const
{
    if (m_outputs[id] != 0)
        return m_outputs[id];
    const std::uint32_t referenced = m_referenced[id];
    const std::uint32_t count = op(id) == nullptr
        ? referenced
        : std::max(referenced, static_cast<std::uint32_t>(dialect::outputCountOf(op(id), m_graph.node(id))));
    m_outputs[id] = count;
    return count;
}

TypeOutcome NodeTypes::apply(NodeId id, std::span<DType> inputs, std::span<DType> outputs,
                             std::size_t *where) const
{
    const graph::NodeDef &node = m_graph.node(id);
    if (!node.subgraphs.empty()) {
        const auto typed = inferBodyTypes(m_graph, id, inputs, outputs, m_depth + 1);
        if (!typed.ok() && where)
            *where = kInBody;
        if (!typed.ok())
            return TypeOutcome::Refused;
        if (typed.value())
            return allKnown(inputs) && allKnown(outputs) ? TypeOutcome::Complete : TypeOutcome::Incomplete;
    }
    if (op(id) == nullptr)
        return TypeOutcome::Incomplete;
    const ops::TypeRule rule = op(id)->typeRule(node.attributes);
    return hasAllSlots(node) ? rule.apply(inputs, outputs, where)
                             : applyBySlot(node, rule, inputs, outputs, where);
}

} // namespace halftone::infer
