#include "core/mixed/original_types.h"

#include "core/infer/infer_types.h"

#include <algorithm>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using ops::TypeOutcome;
using tensor::DType;

class Originals
{
public:
    Originals(const graph::Graph &source, const infer::NodeTypes &rules,
              std::span<const infer::Variable> variables, TypedPlan &plan)
        : m_source(source)
        , m_rules(rules)
        , m_variables(variables)
        , m_plan(plan)
    {
    }

    Result<void> infer();

private:
    Result<void> inferWhole(bool trustGuesses);
    bool inferOriginal(NodeId id);
    void fillOpen();

    const graph::Graph &m_source;
    const infer::NodeTypes &m_rules;
    std::span<const infer::Variable> m_variables;
    TypedPlan &m_plan;
    std::vector<DType> m_in, m_out; ///< scratch of the node at hand, kept for its capacity
};

/// The types that everything has in the source graph.
Result<void> Originals::infer()
{
    const bool isWellTyped = std::ranges::all_of(
        m_plan.order, [this](NodeId id) { return m_source.isVariable(id) || inferOriginal(id); });
    if (!isWellTyped) {
        // A guessed type of a variable may be to blame: then its readers say what it is.
        if (!inferWhole(true).ok() && !inferWhole(false).ok())
            return inferWhole(true);
    }
    fillOpen();
    return {};
}

/// What an operator gives that nobody knows has the type that those who read it need.
void Originals::fillOpen()
{
    const auto isOpen = [this](NodeId id) {
        const auto first = m_plan.original.begin() + m_plan.firstOutput[id];
        return std::find(first, first + m_rules.outputCount(id), DType::Unknown)
            != first + m_rules.outputCount(id);
    };
    if (std::ranges::none_of(m_plan.order, isOpen))
        return;
    std::vector<DType> known(m_source.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < m_source.nodeCount(); ++id)
        if (m_source.isVariable(id))
            known[id] = m_variables[id].type;
    const auto types = infer::inferTypes(m_source, known);
    if (!types.ok())
        return;
    for (const NodeId id : m_plan.order)
        for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k)
            if (DType &type = m_plan.original[m_plan.firstOutput[id] + k]; type == DType::Unknown)
                type = types.value().at(id, k);
}

/// Types by sweeps in both directions, so that variables can take theirs from their readers.
Result<void> Originals::inferWhole(bool trustGuesses)
{
    std::vector<DType> known(m_source.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < m_source.nodeCount(); ++id) {
        if (m_source.isVariable(id) && (trustGuesses || !m_variables[id].isAssumed))
            known[id] = m_variables[id].type;
    }
    HALFTONE_TRY(const infer::TypeMap types, infer::inferTypes(m_source, known));
    for (NodeId id = 0; id < m_source.nodeCount(); ++id) {
        const std::uint32_t first = m_plan.firstOutput[id];
        for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k)
            m_plan.original[first + k] = types.at(id, k);
        if (!m_source.isVariable(id))
            continue;
        if (m_plan.original[first] == DType::Unknown)
            m_plan.original[first] = m_variables[id].type;
        m_plan.native[first] = m_plan.original[first];
    }
    return {};
}

/// Types of one node from those of its inputs; false when they contradict each other.
bool Originals::inferOriginal(NodeId id)
{
    m_in.clear();
    for (const Entry &entry : m_source.inputs(id))
        m_in.push_back(m_plan.original[m_plan.output(entry)]);
    m_out.assign(m_rules.outputCount(id), DType::Unknown);
    if (m_rules.apply(id, m_in, m_out) == TypeOutcome::Refused)
        return false;
    std::ranges::copy(m_out, m_plan.original.begin() + m_plan.firstOutput[id]);
    return true;
}

} // namespace

Result<void> inferOriginals(const graph::Graph &source, const infer::NodeTypes &rules,
                            std::span<const infer::Variable> variables, TypedPlan &plan)
{
    return Originals(source, rules, variables, plan).infer();
}

} // namespace halftone::mixed
