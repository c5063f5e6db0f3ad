/// Mode NodeForNode: operators that no list places (core/mixed/RULES.md, M-neutral).
#include "core/mixed/node_for_node_converter.h"

#include <algorithm>

namespace halftone::mixed {

using graph::Entry;
using graph::NodeId;
using ops::TypeOutcome;
using tensor::DType;

/// What a neutral operator believes of its first input: the type of the value that it really reads, as far as
/// MXNet would know it.
DType NodeForNodeConverter::belief(const Entry &entry) const
{
    if (m_casts.isNative(entry, Side::Target))
        return m_target;
    if (m_casts.isNative(entry, Side::Fp32))
        return DType::F32;
    // MXNet goes by casts made for other readers as well. Of float32 that is harmless where the raw value has
    // that type anyway.
    const bool isFp32 = m_casts.has(entry, Side::Fp32) && m_result.types.of(m_casts.raw(entry)) == DType::F32;
    return isFp32 && !m_casts.has(entry, Side::Target) ? DType::F32 : DType::Unknown;
}

/// M-neutral.
void NodeForNodeConverter::visitNeutral(NodeId id)
{
    readRaw(id);
    const auto inputs = m_source.inputs(id);
    const DType believed = inputs.empty() ? DType::Unknown : belief(inputs[0]);
    const TypeOutcome asked = believed == DType::Unknown ? TypeOutcome::Incomplete : believe(id, believed);
    m_believedOut = m_out;
    TypeOutcome real = evaluate(id);
    if (real == TypeOutcome::Refused && readsOnlyOpen()) {
        real = TypeOutcome::Incomplete; // it only wants to know more, as behind a body
    } else if (real == TypeOutcome::Refused) {
        if (mendNeutral(id, believed))
            return;
        real = evaluate(id);
    }
    if (asked == TypeOutcome::Refused) // the rule wants to know more inputs than the first; now it does
        m_believedOut = m_out;
    commit(id, real);
    if (believed != DType::Unknown && asked != TypeOutcome::Incomplete)
        placeOutputs(id, m_believedOut);
}

/// The raw inputs of a neutral operator do not go together. True when the node was added in another way;
/// false: `m_inputs` was put right.
bool NodeForNodeConverter::mendNeutral(NodeId id, DType believed)
{
    if (believed == m_target || believed == DType::Unknown) {
        castParametersToTarget(id);
        if (evaluate(id) != TypeOutcome::Refused)
            return false;
    }
    const auto inputs = m_source.inputs(id);
    bool anyFp32 = false;
    bool anyTarget = false;
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
        const DType type = m_result.types.of(m_casts.raw(inputs[i]));
        anyFp32 |= type == DType::F32 && !isMutable(id, i);
        anyTarget |= type == m_target;
        if (isParameter(inputs[i]) && type == m_target)
            m_storage.refuseTarget(inputs[i].node);
    }
    const bool mixed = anyFp32 && anyTarget;
    const char *what = mixed ? "its inputs have different types; treated as widest"
                             : "does not support 16 bit; kept in float32";
    m_result.notes.push_back({id, what});
    if (mixed && !(opOf(id) != nullptr && opOf(id)->hasMutableInputs())) {
        readWidest(id);
        return true;
    }
    readFp32(id, false);
    commit(id);
    placeAll(id, Side::Fp32);
    return true;
}

/// Parameters that a neutral operator wants in the type of its 16-bit data get a cast: their storage changes
/// only when asked.
void NodeForNodeConverter::castParametersToTarget(NodeId id)
{
    if (opOf(id) == nullptr)
        return;
    const auto inputs = m_source.inputs(id);
    m_in.clear();
    for (const Entry &entry : inputs)
        m_in.push_back(isParameter(entry) ? DType::Unknown : m_result.types.of(m_casts.raw(entry)));
    m_out.assign(outputCount(id), DType::Unknown);
    if (opOf(id)->typeRule(m_source.node(id).attributes).apply(m_in, m_out) == TypeOutcome::Refused)
        return;
    const std::vector<DType> wanted = m_in;
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
        if (isParameter(inputs[i]) && wanted[i] == m_target && m_storage.typeOf(inputs[i].node) == DType::F32
            && !isMutable(id, i))
            m_inputs[i] = as(inputs[i], Side::Target, {id, i});
    }
}

/// Are the types of all that the node at hand reads open?
bool NodeForNodeConverter::readsOnlyOpen() const
{
    return std::ranges::all_of(
        m_inputs, [this](const Entry &entry) { return m_result.types.of(entry) == DType::Unknown; });
}

} // namespace halftone::mixed
