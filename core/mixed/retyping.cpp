#include "core/mixed/retyping.h"

#include "core/mixed/chosen_types.h"
#include "core/ops/numerics.h"

#include <type_traits>
#include <utility>

namespace halftone::mixed {

using graph::NodeId;
using ops::TypeOutcome;
using tensor::DType;

namespace {

template <class T, class... Ts>
inline constexpr bool kIsAmong = (std::is_same_v<T, Ts> || ...);

} // namespace

Moves movesOf(const ops::Operator &op)
{
    const ops::NumericalClass kind = ops::numericalClass(op);
    if (kind != ops::NumericalClass::DataMovement)
        return kind == ops::NumericalClass::MatrixProduct  ? Moves::Product
            : kind == ops::NumericalClass::ElementwiseSafe ? Moves::Safe
                                                           : Moves::No;
    return ops::visit(
        []<class T>(const T &) {
            constexpr bool kKeepsAll
                = kIsAmong<T, ops::Unary, ops::Reshape, ops::Flatten, ops::Unsqueeze, ops::Squeeze,
                           ops::Transpose, ops::SwapAxes, ops::Reverse, ops::ReshapeLike, ops::DepthToSpace,
                           ops::SpaceToDepth, ops::Concat, ops::Stack, ops::Split>;
            return kKeepsAll ? Moves::All : Moves::Some;
        },
        op);
}

/// From the outputs backward; of rules that don't give inputs from outputs, from the first float input on; of those that want to
/// know all inputs, with the others as they are.
bool Retyping::ask(NodeId id, DType type)
{
    return askFrom(id, type, Seed::Outputs) || askFrom(id, type, Seed::FirstInput)
        || askFrom(id, type, Seed::OnlyFirstInput);
}

bool Retyping::askAll(NodeId id, DType type)
{
    wantOutputs(id, type);
    m_in.clear();
    for (std::size_t i = 0; i < m_source.inputs(id).size(); ++i) {
        const DType read = m_plan.reads[m_plan.firstInput[id] + i];
        m_in.push_back(rewrite::isCastable(read) ? type : read);
    }
    return tie(id, type) && isAccepted(id);
}

void Retyping::wantOutputs(NodeId id, DType type)
{
    m_wanted.clear();
    for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k) {
        const DType native = m_plan.native[m_plan.firstOutput[id] + k];
        m_wanted.push_back(rewrite::isCastable(native) ? type : native);
    }
}

/// Do the inputs give the wanted outputs?
bool Retyping::isAccepted(NodeId id)
{
    m_out.assign(m_wanted.size(), DType::Unknown);
    return applyChosen(m_source, m_rules, id, m_in, m_out) == TypeOutcome::Complete && m_out == m_wanted;
}

bool Retyping::askFrom(NodeId id, DType type, Seed seed)
{
    wantOutputs(id, type);
    seedInputs(id, type, seed);
    if (seed == Seed::Outputs)
        m_out = m_wanted;
    else
        m_out.assign(m_wanted.size(), DType::Unknown);
    return applyChosen(m_source, m_rules, id, m_in, m_out) != TypeOutcome::Refused && tie(id, type)
        && isAccepted(id);
}

void Retyping::seedInputs(NodeId id, DType type, Seed seed)
{
    m_in.clear();
    bool isFirst = seed != Seed::Outputs;
    for (std::size_t i = 0; i < m_source.inputs(id).size(); ++i) {
        const DType read = m_plan.reads[m_plan.firstInput[id] + i];
        if (!rewrite::isCastable(read))
            m_in.push_back(read);
        else if (std::exchange(isFirst, false))
            m_in.push_back(type);
        else
            m_in.push_back(seed == Seed::OnlyFirstInput ? read : DType::Unknown);
    }
}

/// Notes which inputs the rule wants in `type`; the others stay as they are. False when there are none, or one can't be cast.
bool Retyping::tie(NodeId id, DType type)
{
    const auto inputs = m_source.inputs(id);
    m_tied.clear();
    m_isUntied = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DType read = m_plan.reads[m_plan.firstInput[id] + i];
        if (rewrite::isCastable(read) && m_in[i] == type) {
            if (read != type
                && (!rewrite::isCastable(m_plan.nativeOf(inputs[i])) || m_rules.isMutable(id, i)))
                return false;
            m_tied.push_back(i);
        } else {
            m_isUntied |= rewrite::isCastable(read);
            m_in[i] = read;
        }
    }
    return !m_tied.empty();
}

} // namespace halftone::mixed
