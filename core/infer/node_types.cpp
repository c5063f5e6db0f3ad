#include "core/infer/node_types.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/rule_by_slot.h"
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
    return applyBySlot(node, op(id)->typeRule(node.attributes), inputs, outputs, where);
}

} // namespace halftone::infer
