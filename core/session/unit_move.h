#pragma once

#include "core/base/result.h"
#include "core/patterns/unit.h"
#include "core/policy/edits.h"
#include "core/session/snapshot.h"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// Units of a model (a LayerNorm, an attention, a residual block) as a person moves them.
namespace halftone::session {

struct ModelUnit
{
    std::string title; ///< "Attention"
    std::vector<std::string> nodes; ///< names, in the order of the graph
    std::optional<patterns::UnitKind> kind{};
    std::size_t count = 1; ///< units that it joins
};

/// Units of a model, found when they are first asked for, from whichever thread; shared by all snapshots of a document.
class UnitFinder
{
public:
    /// `model`: the same in every call. By size, the smallest first.
    const std::vector<patterns::Unit> &unitsOf(const graph::Model &model);

private:
    std::once_flag m_found;
    std::vector<patterns::Unit> m_units;
};

/// The units that hold all of `nodes`, the smallest first; before them the largest one that is held by `nodes` and is half of them at
/// least: a folded unit is drawn with the constants and shapes that serve it.
std::vector<ModelUnit> unitsAround(const Snapshot &snapshot, std::vector<graph::NodeId> nodes);

/// All units of the model of the same kind as one: "49 LayerNorms". Nothing if it is the only one, or its kind is not known.
std::optional<ModelUnit> allOfKind(const Snapshot &snapshot, const ModelUnit &unit);

/// Holds all nodes of `unit` to a type, or lets them follow the lists again, as one edit: one undo takes it back. Exclusions of
/// these nodes are lifted. Of int8 only operators with such a form take it; the others follow the lists.
/// type   float32, the policy's target, int8, or nothing: as the lists say
/// fails  BadInput where none of the unit's operators has an int8 form, or as policy::applyEdit()
Result<policy::Edit> moveUnit(const Snapshot &snapshot, const ModelUnit &unit,
                              std::optional<tensor::DType> type);

} // namespace halftone::session
