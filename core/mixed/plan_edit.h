#pragma once

#include "core/mixed/move_casts.h"
#include "core/mixed/read_counts.h"
#include "core/mixed/retyping.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace halftone::mixed {

/// A plan whose nodes change their types, and the numbers of readers that follow. All that it is made of must outlive it.
struct PlanEdit
{
    PlanEdit(const graph::Graph &source, const infer::NodeTypes &rules, const policy::Assignment &assignment,
             const CastContext &context, TypedPlan &plan);

    /// No list fixes the operator's type.
    bool mayChange(graph::NodeId id);
    /// Needs: mayChange(id) was true.
    Moves movesOf(graph::NodeId id) const { return moves[source.opOf(id)].value_or(Moves::No); }
    /// Gives the float outputs of the node that type, and the tied inputs.
    void apply(graph::NodeId id, tensor::DType type, const std::vector<std::size_t> &tied);
    /// Says in the plan that the node computes in that type now.
    void note(graph::NodeId id, tensor::DType type);
    /// Takes out what the plan said of nodes before they changed.
    void dropOldNotes();

    const graph::Graph &source;
    const infer::NodeTypes &rules;
    const policy::Assignment &assignment;
    const CastContext &context;
    TypedPlan &plan;
    ReadCounts counts;
    std::vector<std::optional<Moves>> moves; ///< by OpIndex, as far as asked
    std::vector<bool> isChanged; ///< by NodeId
};

} // namespace halftone::mixed
