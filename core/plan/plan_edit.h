#pragma once

#include "core/plan/plan_graph.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::plan {

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
    /// The node whose first output `value` is, which one place alone reads; kNoPlanNode where there is none.
    std::uint32_t hostOf(const PlanGraph &graph, ValueId value) const;
    /// Node `from` stands at `to` now.
    void follow(const PlanNode &node, std::uint32_t from, std::uint32_t to);
};

/// Readers and outputs get other values: by ValueId, what stands for it. Chains are followed.
void replaceValues(PlanGraph &graph, std::span<const ValueId> replacement);

/// `replacement` that changes nothing.
std::vector<ValueId> keepValues(const PlanGraph &graph);

/// Takes marked nodes out.
void eraseNodes(PlanGraph &graph, const std::vector<bool> &marked);

/// The parts of node `k` take its place, with values of their own between them.
void unfold(PlanGraph &graph, std::size_t k);

/// `from`'s source nodes come before those of `into`.
void adoptMembers(PlanNode &into, const PlanNode &from);

} // namespace halftone::plan
