#include "widgets/oplists/move_menus.h"

#include <QKeySequence>
#include <QMenu>

namespace halftone::widgets {

namespace {

/// "&Only these 2 nodes": names may hold an ampersand themselves.
QString withKey(const QString &label)
{
    return QLatin1Char('&') + QString(label).replace(QLatin1Char('&'), QStringLiteral("&&"));
}

} // namespace

QMenu *makeChoiceMenu(const ListMove &move, QWidget *parent, std::function<void(const policy::Edit &)> apply,
                      const std::function<QString(const MoveChoice &)> &consequence,
                      std::function<void(const QString &)> tell)
{
    auto *const menu = new QMenu(parent);
    menu->setObjectName(QStringLiteral("moveChoice"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const MoveChoice &choice : move.choices) {
        if (!choice.edit) {
            menu->addAction(withKey(choice.label + QStringLiteral(" (%1)").arg(choice.why)))
                ->setEnabled(false);
            continue;
        }
        const QString effect = consequence(choice);
        QAction *const action = menu->addAction(withKey(choice.label) + QLatin1Char('\t')
                                                + effect.section(QStringLiteral(": "), 1));
        QObject::connect(action, &QAction::triggered, parent, [apply, edit = *choice.edit] { apply(edit); });
        QObject::connect(action, &QAction::hovered, parent, [tell, effect] { tell(effect); });
    }
    menu->addSeparator();
    menu->addAction(QMenu::tr("&Cancel"));
    return menu;
}

QMenu *makeMoveMenu(const session::Snapshot &snapshot, const ListPayload &payload, QWidget *parent,
                    std::function<void(ListId)> move, std::function<void(ListId)> preview)
{
    auto *const menu = new QMenu(QMenu::tr("&Move To"), parent);
    for (const ListKey &one : kListKeys) {
        const ListMove wanted = moveTo(snapshot, payload, one.list);
        QAction *const action = menu->addAction(titleOf(one.list, snapshot.target()) + QLatin1Char('\t')
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
