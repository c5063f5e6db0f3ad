#include "widgets/oplists/move_menus.h"

#include "widgets/common/formatters.h"

#include <QKeySequence>
#include <QMenu>
#include <QPointer>

namespace halftone::widgets {

namespace {

/// The first letter of a word, else any, that is no entry's key yet; the label's end where all are.
qsizetype placeOfKey(const QString &label, const QString &taken)
{
    for (const bool isInside : {false, true})
        for (qsizetype at = 0; at < label.size(); ++at) {
            const bool isFirst = at == 0 || !label[at - 1].isLetterOrNumber();
            if (label[at].isLetter() && (isInside || isFirst) && !taken.contains(label[at].toLower()))
                return at;
        }
    return label.size();
}

/// "&Only these 2 nodes": names may hold an ampersand themselves.
QString withKey(const QString &label, QString &taken)
{
    const qsizetype key = placeOfKey(label, taken);
    const auto literal = [](QString text) { return text.replace(QLatin1Char('&'), QStringLiteral("&&")); };
    if (key == label.size())
        return literal(label);
    taken += label[key].toLower();
    return literal(label.left(key)) + QLatin1Char('&') + literal(label.mid(key));
}

void fillWithLists(QMenu *menu, const session::Snapshot &snapshot, const session::ModelUnit &unit,
                   const std::function<void(const policy::Edit &)> &apply,
                   const std::function<void(const MoveChoice &)> &preview)
{
    QString taken;
    for (const ListKey &one : kListKeys) {
        if (!takesUnits(one.list))
            continue;
        const MoveChoice choice = unitChoice(snapshot, unit, one.list);
        QAction *const action = menu->addAction(withKey(titleOf(one.list, snapshot.target()), taken));
        action->setEnabled(choice.edit.has_value());
        action->setToolTip(choice.why);
        if (!choice.edit)
            continue;
        QObject::connect(action, &QAction::triggered, menu, [apply, edit = *choice.edit] { apply(edit); });
        QObject::connect(action, &QAction::hovered, menu, [preview, choice] { preview(choice); });
    }
    menu->setToolTipsVisible(true);
}

} // namespace

QMenu *makeUnitMenu(const session::Snapshot &snapshot, const ListPayload &payload, QWidget *parent,
                    const std::function<void(const policy::Edit &)> &apply,
                    const std::function<void(const MoveChoice &)> &preview)
{
    const std::vector<session::ModelUnit> units
        = payload.nodes.size() == 1 ? unitsOf(snapshot, payload) : std::vector<session::ModelUnit>();
    if (units.empty())
        return nullptr;
    auto *const menu = new QMenu(QMenu::tr("Move Its &Block To"), parent);
    menu->setObjectName(QStringLiteral("moveBlock"));
    std::vector<session::ModelUnit> offered; // each unit, then all of its kind
    for (const session::ModelUnit &unit : units) {
        offered.push_back(unit);
        if (auto all = session::allOfKind(snapshot, unit))
            offered.push_back(std::move(*all));
    }
    if (offered.size() == 1) {
        fillWithLists(menu, snapshot, offered.front(), apply, preview);
        return menu;
    }
    QString taken;
    for (const session::ModelUnit &unit : offered) {
        const QString title
            = (unit.count > 1 ? QMenu::tr("All %1: %2 nodes") : QMenu::tr("This %1: %2 nodes"))
                  .arg(plain(unit.title))
                  .arg(unit.nodes.size());
        fillWithLists(menu->addMenu(withKey(title, taken)), snapshot, unit, apply, preview);
    }
    return menu;
}

QMenu *makeChoiceMenu(const ListMove &move, QWidget *parent,
                      const std::function<void(const policy::Edit &)> &apply, EditEffects &effects,
                      const std::function<void(const QString &)> &tell)
{
    auto *const menu = new QMenu(parent);
    menu->setObjectName(QStringLiteral("moveChoice"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    QString taken = QStringLiteral("c"); // by Cancel
    std::vector<policy::Edit> edits;
    std::vector<QAction *> actions; // of these
    QStringList subjects;
    for (const MoveChoice &choice : move.choices) {
        if (!choice.edit) {
            menu->addAction(withKey(choice.label + QStringLiteral(" (%1)").arg(choice.why), taken))
                ->setEnabled(false);
            continue;
        }
        QAction *const action = menu->addAction(withKey(choice.label, taken));
        QObject::connect(action, &QAction::triggered, parent, [apply, edit = *choice.edit] { apply(edit); });
        QObject::connect(action, &QAction::hovered, parent,
                         [tell, action] { tell(action->data().toString()); });
        edits.push_back(*choice.edit);
        actions.push_back(action);
        subjects << choice.subject;
    }
    menu->addSeparator();
    menu->addAction(QMenu::tr("&Cancel"));
    effects.ask(std::move(edits),
                [menu = QPointer(menu), actions, subjects](const std::vector<session::EditEffect> &known) {
                    if (!menu)
                        return;
                    for (std::size_t k = 0; k < known.size(); ++k) {
                        const QString effect = consequence(subjects[static_cast<qsizetype>(k)], known[k]);
                        actions[k]->setData(effect);
                        actions[k]->setText(actions[k]->text() + QLatin1Char('\t')
                                            + effect.section(QStringLiteral(": "), 1));
                    }
                });
    return menu;
}

QMenu *makeMoveMenu(const session::Snapshot &snapshot, const ListPayload &payload, QWidget *parent,
                    const std::function<void(ListId)> &move, const std::function<void(ListId)> &preview)
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
