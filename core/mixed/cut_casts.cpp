#include "core/mixed/cut_casts.h"

#include "core/mixed/type_cut.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

/// A node that may compute in the one type or the other.
struct Free
{
    NodeId id;
    DType type; ///< now
    std::vector<std::size_t> tied;
    TypeCut::Term term = 0;
};

/// Who reads each tensor.
class Readers
{
public:
    Readers(std::size_t tensors, std::span<const std::pair<std::uint32_t, TypeCut::Term>> reads)
        : m_first(tensors + 1, 0)
        , m_terms(reads.size())
    {
        for (const auto &[tensor, term] : reads)
            ++m_first[tensor + 1];
        std::partial_sum(m_first.begin(), m_first.end(), m_first.begin());
        std::vector<std::uint32_t> next = m_first;
        for (const auto &[tensor, term] : reads)
            m_terms[next[tensor]++] = term;
    }
    std::span<const TypeCut::Term> of(std::uint32_t tensor) const
    {
        return std::span(m_terms).subspan(m_first[tensor], m_first[tensor + 1] - m_first[tensor]);
    }

private:
    std::vector<std::uint32_t> m_first; ///< of each tensor's readers: where they begin, and the end
    std::vector<TypeCut::Term> m_terms;
};

TypeCut::Term termOf(DType type)
{
    return type == DType::F32 ? TypeCut::kFloat32 : TypeCut::kHalf;
}

class CastCut
{
public:
    explicit CastCut(PlanEdit &edit)
        : m_edit(edit)
        , m_plan(edit.plan)
        , m_retyping(edit.source, edit.rules, edit.plan)
    {
    }

    void run();

private:
    std::optional<Free> freeNode(NodeId id);
    void addTensors(TypeCut &cut, const std::vector<Free> &free) const;
    Readers readersOf(const std::vector<Free> &free, const std::vector<const Free *> &byNode) const;

    PlanEdit &m_edit;
    TypedPlan &m_plan;
    Retyping m_retyping; ///< of the node at hand
};

/// May the node compute in the other type, as far as it alone is concerned?
std::optional<Free> CastCut::freeNode(NodeId id)
{
    if (!m_edit.mayChange(id))
        return std::nullopt;
    DType type = DType::Unknown;
    for (std::uint32_t k = 0; k < m_edit.rules.outputCount(id); ++k) {
        const DType native = m_plan.native[m_plan.firstOutput[id] + k];
        if (!rewrite::isCastable(native))
            continue;
        if ((native != DType::F32 && native != m_edit.context.target)
            || (type != DType::Unknown && native != type))
            return std::nullopt;
        type = native;
    }
    const Moves moves = m_edit.movesOf(id);
    const bool isMover = moves == Moves::Some || moves == Moves::All;
    const bool mayCompute = moves == Moves::Safe || (moves == Moves::No && type == m_edit.context.target);
    if (type == DType::Unknown || !(isMover || mayCompute)
        || !m_retyping.ask(id, type == DType::F32 ? m_edit.context.target : DType::F32)
        || (m_retyping.isUntied() && m_edit.assignment.requested(id) == policy::Request::Widest))
        return std::nullopt;
    for (const std::size_t i : m_retyping.tied())
        if (m_plan.reads[m_plan.firstInput[id] + i] != type)
            return std::nullopt;
    return Free{id, type, m_retyping.takeTied()};
}

/// Every tensor with what it comes from and what reads it. What is float32 by itself may become 16 bit only where nothing that it
/// reaches wants float32: no value loses bits that somebody reads.
void CastCut::addTensors(TypeCut &cut, const std::vector<Free> &free) const
{
    std::vector<const Free *> byNode(m_edit.source.nodeCount(), nullptr);
    for (const Free &node : free)
        byNode[node.id] = &node;
    const Readers readers = readersOf(free, byNode);
    for (std::uint32_t output = 0; output < m_plan.value.size(); ++output) {
        const NodeId node = m_plan.value[output].node;
        const DType native = m_plan.native[output];
        const std::span<const TypeCut::Term> terms = readers.of(output);
        if (terms.empty() || (native != DType::F32 && native != m_edit.context.target))
            continue;
        const bool isStorable = m_edit.source.isVariable(node) && (*m_edit.context.isStorable)[node];
        const Free *const producer = byNode[node];
        cut.addTensor(producer ? producer->term : isStorable ? cut.addNode(false) : termOf(native), terms);
        for (const TypeCut::Term reader : terms)
            if (producer != nullptr && producer->type == DType::F32)
                cut.require(producer->term, reader);
    }
}

/// What reads the tensors that nodes which are free give or read; the others cost the same however those are.
Readers CastCut::readersOf(const std::vector<Free> &free, const std::vector<const Free *> &byNode) const
{
    std::vector<bool> matters(m_plan.value.size(), false);
    for (const Free &node : free) {
        for (const std::size_t i : node.tied)
            matters[m_plan.output(m_plan.valueOf(m_edit.source.inputs(node.id)[i]))] = true;
        for (std::uint32_t k = 0; k < m_edit.rules.outputCount(node.id); ++k)
            matters[m_plan.firstOutput[node.id] + k] = true;
    }
    std::vector<std::pair<std::uint32_t, TypeCut::Term>> reads;
    const auto note = [&](const Entry &entry, DType type, TypeCut::Term term) {
        const std::uint32_t output = m_plan.output(m_plan.valueOf(entry));
        if (matters[output] && (type == DType::F32 || type == m_edit.context.target))
            reads.emplace_back(output, term);
    };
    for (const NodeId id : m_plan.order) {
        const auto inputs = m_edit.source.inputs(id);
        const Free *const reader = byNode[id];
        std::size_t nextTied = 0; // they ascend
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const DType type = m_plan.reads[m_plan.firstInput[id] + i];
            const bool isTied = reader && nextTied < reader->tied.size() && reader->tied[nextTied] == i;
            nextTied += isTied ? 1 : 0;
            note(inputs[i], type, isTied ? reader->term : termOf(type));
        }
    }
    for (std::size_t k = 0; k < m_plan.headReads.size(); ++k)
        note(m_edit.source.heads()[k], m_plan.headReads[k], termOf(m_plan.headReads[k]));
    return Readers(m_plan.value.size(), reads);
}

void CastCut::run()
{
    TypeCut cut;
    std::vector<Free> free;
    for (const NodeId id : m_plan.order) {
        if (auto node = freeNode(id)) {
            node->term = cut.addNode(node->type != DType::F32);
            free.push_back(std::move(*node));
        }
    }
    if (free.empty())
        return;
    addTensors(cut, free);
    const std::vector<bool> isHalf = cut.solve();
    for (std::size_t k = 0; k < free.size(); ++k) {
        if (isHalf[k] == (free[k].type != DType::F32))
            continue;
        const DType type = isHalf[k] ? m_edit.context.target : DType::F32;
        m_edit.apply(free[k].id, type, free[k].tied);
        m_edit.note(free[k].id, type);
    }
}

} // namespace

void cutCasts(PlanEdit &edit)
{
    CastCut(edit).run();
}

} // namespace halftone::mixed
