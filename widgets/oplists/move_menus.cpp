#include "widgets/oplists/move_menus.h"

#include <QKeySequence>
#include <QMenu>

namespace halftone::widgets {

QMenu *makeChoiceMenu(const ListMove &move, QWidget *parent, std::function<void(const policy::Edit &)> apply,
                      std::function<void(const MoveChoice &)> preview)
{
    auto *const menu = new QMenu(parent);
    menu->setObjectName(QStringLiteral("moveChoice"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const MoveChoice &choice : move.choices) {
        QAction *const action = menu->addAction(
            choice.edit ? choice.label : choice.label + QStringLiteral(" (%1)").arg(choice.why));
        action->setEnabled(choice.edit.has_value());
        if (!choice.edit)
            continue;
        QObject::connect(action, &QAction::triggered, parent, [apply, edit = *choice.edit] { apply(edit); });
        QObject::connect(action, &QAction::hovered, parent, [preview, choice] { preview(choice); });
    }
    menu->addSeparator();
    menu->addAction(QMenu::tr("Cancel"));
    return menu;
}

QMenu *makeMoveMenu(const session::Snapshot &snapshot, const ListPayload &payload, QWidget *parent,
                    std::function<void(ListId)> move, std::function<void(ListId)> preview)
{
    auto *const menu = new QMenu(QMenu::tr("&Move to"), parent);
    for (const ListKey &one : kListKeys) {
        const ListMove wanted = moveTo(snapshot, payload, one.list);
        QAction *const action = menu->addAction(titleOf(one.list, snapshot.policy->target) + QLatin1Char('\t')
                                                + QKeySequence(one.key).toString(QKeySequence::NativeText));
        action->setEnabled(wanted.isPossible());
        action->setToolTip(wanted.refusal);
        if (!wanted.isPossible())
            continue;
        QObject::connect(action, &QAction::triggered, parent, [move, list = one.list] { move(list); });
        QObject::connect(action, &QAction::hovered, parent, [preview, list = one.list] { preview(list); });
    }
    menu->setToolTipsVisible(true);
    return menu;
}

} // namespace halftone::widgets
