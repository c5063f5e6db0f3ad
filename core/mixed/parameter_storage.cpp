#include "core/mixed/parameter_storage.h"

namespace halftone::mixed {

using graph::NodeId;
using tensor::DType;

ParameterStorage::ParameterStorage(std::span<const infer::Variable> variables, DType target, bool castParams)
    : m_variables(variables)
    , m_states(variables.size())
    , m_target(target)
    , m_castParams(castParams)
{
    open();
}

void ParameterStorage::open()
{
    m_open = 0;
    for (std::size_t id = 0; id < m_states.size(); ++id) {
        const bool refused = m_states[id].refused;
        m_states[id] = {m_variables[id].type, DType::Unknown, refused, false, false};
        if (m_castParams && !refused && !m_variables[id].isData && m_variables[id].type == DType::F32) {
            m_states[id].type = DType::Unknown;
            ++m_open;
        }
    }
}

void ParameterStorage::decide(State &state, DType type)
{
    state.type = type;
    --m_open;
}

bool ParameterStorage::readAsTarget(NodeId variable)
{
    State &state = m_states[variable];
    if (state.type == DType::Unknown)
        decide(state, state.castTo == DType::F32 ? DType::F32 : m_target);
    return m_castParams && state.type == m_target;
}

void ParameterStorage::readAsFp32(NodeId variable)
{
    State &state = m_states[variable];
    if (state.type == DType::Unknown)
        decide(state, DType::F32);
    else
        refuseIfNarrowed(variable);
}

void ParameterStorage::readThroughCast(NodeId variable, DType to)
{
    State &state = m_states[variable];
    state.castsDiffer |= state.castTo != DType::Unknown && state.castTo != to;
    state.castTo = to;
    if (to == DType::F32)
        refuseIfNarrowed(variable);
}

void ParameterStorage::refuseIfNarrowed(NodeId variable)
{
    if (m_states[variable].type == m_target && m_variables[variable].type == DType::F32)
        refuseTarget(variable);
}

void ParameterStorage::refuseTarget(NodeId variable)
{
    if (m_states[variable].refused) // it comes in the target type, and no round changes that
        return;
    m_states[variable].refused = true;
    m_conflict = true;
}

bool ParameterStorage::restart()
{
    // Each round settles at least one parameter; a graph made to need thousands of rounds gets plain float32
    // parameters instead.
    constexpr int kMostRounds = 8;
    if (!m_conflict)
        return false;
    m_conflict = false;
    if (++m_rounds >= kMostRounds)
        m_castParams = false;
    open();
    return true;
}

void ParameterStorage::settle()
{
    for (State &state : m_states) {
        if (m_open == 0)
            return;
        if (state.type != DType::Unknown)
            continue;
        if (state.multicast)
            decide(state, m_target);
        else if (state.castTo != DType::Unknown && !state.castsDiffer)
            decide(state, state.castTo);
        else
            decide(state, DType::F32);
    }
}

} // namespace halftone::mixed
