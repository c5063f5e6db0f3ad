#pragma once

#include "core/base/result.h"
#include "core/policy/edits.h"
#include "core/session/snapshot.h"

#include <optional>
#include <string>
#include <vector>

/// Units of a model (a LayerNorm, an attention, a residual block) as a person moves them.
namespace halftone::session {

struct ModelUnit
{
    std::string title; ///< "Attention"
    std::vector<std::string> nodes; ///< names, in the order of the graph
};

/// The units that hold `node`, the smallest first.
std::vector<ModelUnit> unitsWith(const graph::Model &model, graph::NodeId node);

/// Holds all nodes of `unit` to a type, or lets them follow the lists again, as one edit: one undo takes it back. Exclusions of
/// these nodes are lifted. Of int8 only operators with such a form take it; the others follow the lists.
/// type   float32, the policy's target, int8, or nothing: as the lists say
/// fails  BadInput where none of the unit's operators has an int8 form, or as policy::applyEdit()
Result<policy::Edit> moveUnit(const Snapshot &snapshot, const ModelUnit &unit,
                              std::optional<tensor::DType> type);

} // namespace halftone::session
