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

/// Moves of operators and nodes to a list as edits; used by drag, keys and menus.
namespace halftone::widgets {

/// One possible meaning of a move.
struct MoveChoice
{
    QString label; ///< for the menu: "Only these 2 nodes", "The whole LayerNorm: 9 nodes"
    QString subject; ///< for the preview: "12 Convolution to fp32"
    std::optional<policy::Edit> edit;
    QString why; ///< why there is no edit
    bool isSo = false; ///< nothing would change
};

/// All possible meanings of a move to one list.
struct ListMove
{
    std::vector<MoveChoice> choices; ///< if there are several, the user is asked
    QString refusal; ///< why nothing can be moved there; empty if possible
    /// The operator whose conditions must be entered (for the conditional list).
    std::optional<std::string> conditionsOf;

    bool isPossible() const { return refusal.isEmpty(); }
};

/// Of more than 20 nodes a pattern that says the same is offered, to all lists that take nodes: the target, int8, fp32 and excluded. A
/// pattern goes when all nodes that it names move elsewhere. Nodes are excluded individually, and a single node moves individually to a list that supports nodes. Several nodes, or a list
/// without support for nodes, can mean only these nodes, a unit that they belong to (session/unit_move.h), or all nodes with
/// their operators.
ListMove moveTo(const session::Snapshot &snapshot, const ListPayload &payload, ListId to);

/// The units that contain all nodes of a payload, smallest first; none for operators.
std::vector<session::ModelUnit> unitsOf(const session::Snapshot &snapshot, const ListPayload &payload);

/// Can a unit be set to the type of the list?
constexpr bool takesUnits(ListId list)
{
    return list == ListId::Target || list == ListId::Int8 || list == ListId::Fp32 || list == ListId::Neutral;
}

/// A unit as a whole: "The whole LayerNorm: 9 nodes". Needs: takesUnits(to).
MoveChoice unitChoice(const session::Snapshot &snapshot, const session::ModelUnit &unit, ListId to);

/// "12 Convolution to fp32: casts 14 to 38", or why it is not possible.
QString consequence(const QString &subject, const session::EditEffect &effect);

} // namespace halftone::widgets
