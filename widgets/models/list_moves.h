#pragma once

#include "core/policy/edits.h"
#include "core/session/snapshot.h"
#include "core/session/unit_move.h"
#include "widgets/models/list_entries.h"
#include "widgets/models/list_payload.h"

#include <QString>

#include <optional>
#include <string>
#include <vector>

/// What moving operators and nodes to a list means, as edits: the same for drag, key and menu.
namespace halftone::widgets {

/// One thing that a move may mean.
struct MoveChoice
{
    QString label; ///< for the menu that asks: "Only these 2 nodes", "The whole LayerNorm: 9 nodes"
    QString subject; ///< for the consequence: "12 Convolution to fp32"
    std::optional<policy::Edit> edit;
    QString why; ///< without an edit: why it cannot be
    bool isSo = false; ///< nothing would change
};

/// All that a move to one list may mean.
struct ListMove
{
    std::vector<MoveChoice> choices; ///< more than one: the person is asked
    QString refusal; ///< why nothing can be moved there; empty if something can
    /// The one operator that conditions must be asked for (a move to the conditional list).
    std::optional<std::string> conditionsOf;

    bool isPossible() const { return refusal.isEmpty(); }
};

/// Nodes go to excluded as they are, and a single node goes alone to whatever list can hold it. For several nodes, and where
/// a list cannot hold a node, either they alone are meant, or a unit that they are part of (session/unit_move.h), or all of
/// their operators.
ListMove moveTo(const session::Snapshot &snapshot, const ListPayload &payload, ListId to);

/// The units that hold all nodes of a payload, the smallest first; none of operators.
std::vector<session::ModelUnit> unitsOf(const session::Snapshot &snapshot, const ListPayload &payload);

/// Can a unit be held to what the list says?
constexpr bool takesUnits(ListId list)
{
    return list == ListId::Target || list == ListId::Int8 || list == ListId::Fp32 || list == ListId::Neutral;
}

/// A unit as a whole: "The whole LayerNorm: 9 nodes". Needs: takesUnits(to).
MoveChoice unitChoice(const session::Snapshot &snapshot, const session::ModelUnit &unit, ListId to);

/// "12 Convolution to fp32: casts 14 to 38", or why it cannot be.
QString consequence(const QString &subject, const session::EditEffect &effect);

} // namespace halftone::widgets
