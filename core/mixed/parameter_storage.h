#pragma once

#include "core/graph/graph.h"
#include "core/infer/variables.h"
#include "core/tensor/dtype.h"

#include <span>
#include <vector>

namespace halftone::mixed {

/// In which type each parameter of a graph is to be stored when storage in the target type is wanted
/// (`castParams`): open until a reader says, the target type when every reader wants that, float32 when one
/// does not (core/mixed/RULES.md, M-storage, M-typed-storage, D-shared-param).
///
/// Readers come one after another, and one that was served in the target type cannot be taken back: such a
/// parameter is in conflict, and the conversion starts again with it in float32.
class ParameterStorage
{
public:
    ParameterStorage(std::span<const infer::Variable> variables, tensor::DType target, bool castParams);

    bool isParameter(graph::NodeId variable) const { return !m_variables[variable].isData; }
    /// The type of a variable; Unknown while a parameter's is open.
    tensor::DType typeOf(graph::NodeId variable) const { return m_states[variable].type; }
    bool hasOpen() const { return m_open > 0; }

    /// A reader wants the value itself in the target type; false: it has to cast, since another one needs float32.
    bool readAsTarget(graph::NodeId variable);
    /// A reader takes the value itself as float32.
    void readAsFp32(graph::NodeId variable);
    /// A reader casts the value: to float32, and it must not have been rounded before; to the target type, and storage is free.
    void readThroughCast(graph::NodeId variable, tensor::DType to);
    void readByMulticast(graph::NodeId variable) { m_states[variable].multicast = true; }
    void refuseTarget(graph::NodeId variable);

    /// Is some parameter in conflict? Then forgets what readers said, keeps those in float32 (all, after too
    /// many rounds) and gives true.
    bool restart();
    /// Closes what is still open: the target type for a parameter that only multicasts over variables read,
    /// the type of its casts when they agree, else float32 (M-storage).
    void settle();

private:
    struct State
    {
        tensor::DType type = tensor::DType::Unknown;
        tensor::DType castTo = tensor::DType::Unknown; ///< of its casts, while they agree
        bool refused = false; ///< must stay as it is
        bool multicast = false;
        bool castsDiffer = false;
    };

    void open();
    void decide(State &state, tensor::DType type);
    void refuseIfNarrowed(graph::NodeId variable);

    std::span<const infer::Variable> m_variables;
    std::vector<State> m_states; ///< by NodeId
    tensor::DType m_target;
    bool m_castParams;
    bool m_conflict = false;
    int m_rounds = 0;
    std::size_t m_open = 0;
};

} // namespace halftone::mixed
