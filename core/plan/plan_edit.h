#pragma once

#include "core/runtime/plan_graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace halftone::runtime {

inline constexpr std::uint32_t kNoPlanNode = 0xFFFFFFFFU;

/// Who makes and who reads the values of a plan graph, at the time of construction.
struct PlanUses
{
    explicit PlanUses(const PlanGraph &graph);

    std::vector<std::uint32_t> producer; ///< by ValueId; kNoPlanNode for inputs and constants
    std::vector<std::vector<std::uint32_t>>
        readers; ///< by ValueId, a node once for every place it reads from
    std::vector<bool> isOutput; ///< by ValueId

    /// Is `value` read in one place only, and that no output?
    bool hasOneReader(ValueId value) const { return readers[value].size() == 1 && !isOutput[value]; }
};

/// Readers and outputs get other values: by ValueId, what stands for it. Chains are followed.
void replaceValues(PlanGraph &graph, std::span<const ValueId> replacement);

/// `replacement` that changes nothing.
std::vector<ValueId> keepValues(const PlanGraph &graph);

/// Takes marked nodes out.
void eraseNodes(PlanGraph &graph, const std::vector<bool> &marked);

/// `from`'s source nodes come before those of `into`.
void adoptMembers(PlanNode &into, const PlanNode &from);

} // namespace halftone::runtime
