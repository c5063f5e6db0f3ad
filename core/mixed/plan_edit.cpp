#include "core/mixed/plan_edit.h"

#include "core/dialect/dialect.h"

namespace halftone::mixed {

using graph::NodeId;
using tensor::DType;

PlanEdit::PlanEdit(const graph::Graph &graph, const infer::NodeTypes &nodeTypes,
                   const policy::Assignment &asked, const CastContext &castContext, TypedPlan &typedPlan)
    : source(graph)
    , rules(nodeTypes)
    , assignment(asked)
    , context(castContext)
    , plan(typedPlan)
    , counts(graph, typedPlan, castContext.target)
    , moves(graph.operatorNames().size())
    , isChanged(graph.nodeCount(), false)
{
}

bool PlanEdit::mayChange(NodeId id)
{
    if (source.isVariable(id) || source.inputs(id).empty() || rules.op(id) == nullptr
        || isControlFlow(source, id))
        return false;
    std::optional<Moves> &known = moves[source.opOf(id)];
    if (!known) {
        const auto op = dialect::of(source).readKind(source.node(id));
        known = op.ok() ? mixed::movesOf(op.value()) : Moves::No;
    }
    const policy::Request request = assignment.requested(id);
    return request == policy::Request::Follow || request == policy::Request::Widest;
}

void PlanEdit::apply(NodeId id, DType type, const std::vector<std::size_t> &tied)
{
    const auto inputs = source.inputs(id);
    for (const std::size_t i : tied) {
        DType &read = plan.reads[plan.firstInput[id] + i];
        ReadCounts::Counts &readers = counts[plan.output(plan.valueOf(inputs[i]))];
        --readers.of(read, context.target);
        read = type;
        ++readers.of(read, context.target);
    }
    for (std::uint32_t k = 0; k < rules.outputCount(id); ++k) {
        DType &native = plan.native[plan.firstOutput[id] + k];
        if (rewrite::isCastable(native))
            native = type;
    }
}

void PlanEdit::note(NodeId id, DType type)
{
    plan.moved.push_back({id, type});
    isChanged[id] = true;
}

void PlanEdit::dropOldNotes()
{
    std::erase_if(plan.notes, [this](const rewrite::NodeNote &one) { return isChanged[one.node]; });
}

} // namespace halftone::mixed
