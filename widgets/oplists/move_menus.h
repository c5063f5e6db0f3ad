#pragma once

#include "core/session/snapshot.h"
#include "widgets/common/edit_effects.h"
#include "widgets/models/list_moves.h"

#include <functional>

class QMenu;
class QWidget;

namespace halftone::widgets {

struct ListKey
{
    ListId list;
    Qt::Key key;
};

/// The key that moves to each list.
inline constexpr ListKey kListKeys[]{{ListId::Target, Qt::Key_T},      {ListId::Int8, Qt::Key_I},
                                     {ListId::Fp32, Qt::Key_F},        {ListId::Widest, Qt::Key_W},
                                     {ListId::Conditional, Qt::Key_C}, {ListId::Excluded, Qt::Key_X},
                                     {ListId::Neutral, Qt::Key_N}};

/// "Move Its Block To": the units around a single node, each with the lists that can hold it. Null where there is none.
QMenu *makeUnitMenu(const session::Snapshot &snapshot, const ListPayload &payload, QWidget *parent,
                    const std::function<void(const policy::Edit &)> &apply,
                    const std::function<void(const MoveChoice &)> &preview);

/// Asks which of its choices a move means, each with a key of its own and, as soon as that is known, with what it would do.
/// effects  answers what the choices would do; tell  is called with that of the one under the cursor
QMenu *makeChoiceMenu(const ListMove &move, QWidget *parent,
                      const std::function<void(const policy::Edit &)> &apply, EditEffects &effects,
                      const std::function<void(const QString &)> &tell);

/// "Move to", with the lists that cannot take the payload greyed and saying why.
QMenu *makeMoveMenu(const session::Snapshot &snapshot, const ListPayload &payload, QWidget *parent,
                    const std::function<void(ListId)> &move, const std::function<void(ListId)> &preview);

} // namespace halftone::widgets
