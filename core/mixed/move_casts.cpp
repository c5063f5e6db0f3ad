#include "core/mixed/move_casts.h"

#include "core/mixed/cut_casts.h"
#include "core/mixed/plan_edit.h"
#include "core/mixed/retyping.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

/// Casts and the bytes that they and an operator read and write.
struct Cost
{
    std::int64_t casts = 0;
    double bytes = 0;
};

/// One node after the other, against the flow.
class CastMover
{
public:
    explicit CastMover(PlanEdit &edit)
        : m_edit(edit)
        , m_plan(edit.plan)
        , m_retyping(edit.source, edit.rules, edit.plan)
        , m_seen(edit.plan.value.size(), 0)
    {
    }

    void run()
    {
        for (auto id = m_plan.order.rbegin(); id != m_plan.order.rend(); ++id) {
            if (m_edit.mayChange(*id))
                consider(*id);
        }
    }

private:
    void consider(NodeId id);
    DType wantedType(NodeId id) const;
    bool measure(NodeId id);
    bool hasAllInTarget(NodeId id) const;
    bool change(NodeId id, DType type, bool forBytes);
    std::optional<double> elementsOf(const Entry &value) const;
    Cost costOfCasts(std::uint32_t output, DType native, const ReadCounts::Counts &counts,
                     double elements) const;
    Cost costNow(NodeId id);

    PlanEdit &m_edit;
    TypedPlan &m_plan;
    Retyping m_retyping; ///< of the node at hand
    std::vector<double> m_inElements, m_outElements; ///< of its tied inputs, and of its outputs
    std::vector<std::uint32_t> m_seen; ///< by output: the round in which its casts were counted
    std::uint32_t m_round = 0;
};

/// The one type that all readers of the node's floats want, when they come in another one; else Unknown.
DType CastMover::wantedType(NodeId id) const
{
    ReadCounts::Counts sum;
    DType native = DType::Unknown;
    for (std::uint32_t k = 0; k < m_edit.rules.outputCount(id); ++k) {
        const std::uint32_t output = m_plan.firstOutput[id] + k;
        if (!rewrite::isCastable(m_plan.native[output]))
            continue;
        native = m_plan.native[output];
        sum.fp32 += m_edit.counts[output].fp32;
        sum.target += m_edit.counts[output].target;
        sum.other += m_edit.counts[output].other;
    }
    if (sum.other > 0 || (sum.fp32 > 0) == (sum.target > 0))
        return DType::Unknown;
    const DType wanted = sum.target > 0 ? m_edit.context.target : DType::F32;
    return wanted == native ? DType::Unknown : wanted;
}

std::optional<double> CastMover::elementsOf(const Entry &value) const
{
    if (m_edit.context.shapes == nullptr)
        return std::nullopt;
    const auto &outputs = m_edit.context.shapes->byNode[value.node];
    if (value.output >= outputs.size() || !outputs[value.output].hasRank())
        return std::nullopt;
    double elements = 1;
    for (const std::int64_t dim : outputs[value.output].dims()) {
        if (dim < 0)
            return std::nullopt;
        elements *= static_cast<double>(dim);
    }
    return elements;
}

/// Sizes of the data moved; false when they are not known.
bool CastMover::measure(NodeId id)
{
    m_inElements.clear();
    m_outElements.clear();
    bool isKnown = true;
    for (const std::size_t i : m_retyping.tied()) {
        const auto elements = elementsOf(m_plan.valueOf(m_edit.source.inputs(id)[i]));
        isKnown &= elements.has_value();
        m_inElements.push_back(elements.value_or(0));
    }
    for (std::uint32_t k = 0; k < m_retyping.outputs().size(); ++k) {
        const auto elements = elementsOf({id, k, 0});
        isKnown &= elements.has_value() || !rewrite::isCastable(m_retyping.outputs()[k]);
        m_outElements.push_back(elements.value_or(0));
    }
    if (isKnown)
        return true;
    if (m_edit.movesOf(id) != Moves::All)
        return false;
    // In any unit will do: what goes in comes out, in equal parts.
    std::ranges::fill(m_inElements, 1.0 / static_cast<double>(m_inElements.size()));
    std::ranges::fill(m_outElements, 1.0 / static_cast<double>(m_outElements.size()));
    return true;
}

Cost CastMover::costOfCasts(std::uint32_t output, DType native, const ReadCounts::Counts &counts,
                            double elements) const
{
    const NodeId node = m_plan.value[output].node;
    if (m_edit.source.isVariable(node) && (*m_edit.context.isStorable)[node]
        && counts.fp32 + counts.other == 0)
        return {};
    Cost cost;
    const auto add = [&](DType type, std::uint32_t readers) {
        if (readers == 0 || type == native)
            return;
        ++cost.casts;
        cost.bytes += elements * static_cast<double>(tensor::sizeOf(native) + tensor::sizeOf(type));
    };
    add(DType::F32, counts.fp32);
    add(m_edit.context.target, counts.target);
    cost.casts += counts.other > 0 ? 1 : 0; // the same before and after
    return cost;
}

/// The node's own traffic and all casts of what it reads and writes.
Cost CastMover::costNow(NodeId id)
{
    Cost cost;
    const auto inputs = m_edit.source.inputs(id);
    ++m_round;
    for (std::size_t k = 0; k < m_retyping.tied().size(); ++k) {
        const std::uint32_t output = m_plan.output(m_plan.valueOf(inputs[m_retyping.tied()[k]]));
        cost.bytes += m_inElements[k]
            * static_cast<double>(tensor::sizeOf(m_plan.reads[m_plan.firstInput[id] + m_retyping.tied()[k]]));
        if (std::exchange(m_seen[output], m_round) == m_round)
            continue; // one input twice: its casts are shared
        const Cost casts = costOfCasts(output, m_plan.native[output], m_edit.counts[output], m_inElements[k]);
        cost.casts += casts.casts;
        cost.bytes += casts.bytes;
    }
    for (std::uint32_t k = 0; k < m_outElements.size(); ++k) {
        const std::uint32_t output = m_plan.firstOutput[id] + k;
        if (!rewrite::isCastable(m_plan.native[output]))
            continue;
        const Cost casts
            = costOfCasts(output, m_plan.native[output], m_edit.counts[output], m_outElements[k]);
        cost.casts += casts.casts;
        cost.bytes
            += casts.bytes + m_outElements[k] * static_cast<double>(tensor::sizeOf(m_plan.native[output]));
    }
    return cost;
}

void CastMover::consider(NodeId id)
{
    const DType wanted = wantedType(id);
    if (wanted == DType::Unknown || !m_retyping.ask(id, wanted))
        return;
    // An operator asked for its widest input takes all of them into account, also those that are no data.
    const bool isWidest = m_edit.assignment.requested(id) == policy::Request::Widest;
    const Moves moves = m_edit.movesOf(id);
    const bool isMover = moves == Moves::Some || moves == Moves::All;
    if (isMover && !(isWidest && m_retyping.isUntied()) && measure(id) && change(id, wanted, true))
        return;
    if (wanted == DType::F32 ? moves == Moves::No || moves == Moves::Safe : hasAllInTarget(id)) {
        m_inElements.assign(m_retyping.tied().size(), 0); // sizes play no part
        m_outElements.assign(m_retyping.outputs().size(), 0);
        change(id, wanted, false);
    }
}

/// Gives the node's data the type if that is better: fewer bytes and no more casts, or fewer casts.
bool CastMover::change(NodeId id, DType type, bool forBytes)
{
    const DType before = m_plan.reads[m_plan.firstInput[id] + m_retyping.tied().front()];
    const bool isUniform = std::ranges::all_of(
        m_retyping.tied(), [&](std::size_t i) { return m_plan.reads[m_plan.firstInput[id] + i] == before; });
    if (!isUniform)
        return false;
    const Cost costBefore = costNow(id);
    m_edit.apply(id, type, m_retyping.tied());
    const Cost costAfter = costNow(id);
    const bool isBetter = forBytes ? costAfter.casts <= costBefore.casts && costAfter.bytes < costBefore.bytes
                                   : costAfter.casts < costBefore.casts;
    if (!isBetter) {
        m_edit.apply(id, before, m_retyping.tied());
        return false;
    }
    m_edit.note(id, type);
    return true;
}

/// Is what the node reads there in the target type anyway, or stored in it? Of a widest operator all floats count.
bool CastMover::hasAllInTarget(NodeId id) const
{
    const auto inputs = m_edit.source.inputs(id);
    const auto isThere = [&](std::size_t i) {
        const Entry &value = m_plan.valueOf(inputs[i]);
        const std::uint32_t output = m_plan.output(value);
        const bool isStorable
            = m_edit.source.isVariable(value.node) && (*m_edit.context.isStorable)[value.node];
        return m_plan.native[output] == m_edit.context.target || m_edit.counts[output].target > 0
            || isStorable;
    };
    if (m_edit.assignment.requested(id) != policy::Request::Widest)
        return std::ranges::all_of(m_retyping.tied(), isThere);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (rewrite::isCastable(m_plan.reads[m_plan.firstInput[id] + i]) && !isThere(i))
            return false;
    }
    return true;
}

} // namespace

void moveCasts(const graph::Graph &source, const infer::NodeTypes &rules,
               const policy::Assignment &assignment, const CastContext &context, TypedPlan &plan)
{
    PlanEdit edit(source, rules, assignment, context, plan);
    cutCasts(edit);
    CastMover(edit).run();
    edit.dropOldNotes();
}

} // namespace halftone::mixed
