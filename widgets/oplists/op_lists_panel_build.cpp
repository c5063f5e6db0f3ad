#include "core/dialect/registry.h"
#include "core/policy/op_lists.h"
#include "widgets/common/formatters.h"
#include "widgets/common/text_block.h"
#include "widgets/oplists/move_menus.h"
#include "widgets/oplists/op_list_view.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/oplists/policy_commands.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

/// What the panel consists of, and its keys.
namespace halftone::widgets {

void OpListsPanel::build()
{
    m_filter->setPlaceholderText(tr("Filter operators"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName(tr("Filter operators"));
    m_more->setText(QStringLiteral("\u22ee"));
    m_more->setAccessibleName(tr("More commands for the lists"));
    m_more->setToolTip(tr("More commands for the lists"));
    // Not the button's own menu, which would draw an arrow over the dots.
    connect(m_more, &QToolButton::clicked, this,
            [this, menu = makeMoreMenu()] { menu->popup(m_more->mapToGlobal(m_more->rect().bottomLeft())); });
    m_message->setAccessibleName(tr("Effect of the move"));
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    m_every->setToolTip(tr("Show the built-in lists in full"));

    auto *const top = new QHBoxLayout;
    top->addWidget(m_filter, 1);
    top->addWidget(m_more);
    auto *const layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->setSpacing(4);
    layout->addLayout(top);
    layout->addWidget(makeListRow());
    layout->addWidget(m_view, 1);
    layout->addWidget(m_every);
    layout->addWidget(m_message);
    const std::vector<QWidget *> order{m_filter, m_more, m_version, m_view, m_every};
    for (std::size_t i = 1; i < order.size(); ++i)
        setTabOrder(order[i - 1], order[i]);
}

QWidget *OpListsPanel::makeListRow()
{
    auto *const row = new QWidget(this);
    auto *const layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    fillVersions(dialect::defaultDialect());
    m_version->setAccessibleName(tr("Built-in lists"));
    m_version->setToolTip(tr("Built-in lists for operators that the policy does not list"));
    layout->addWidget(m_version, 1);
    connect(m_version, &QComboBox::activated, this, [this](int at) {
        apply(policy::SetListVersion{m_version->itemData(at).toString().toStdString()});
        m_view->setFocus(Qt::OtherFocusReason); // whose keys move and walk
    });
    return row;
}

QMenu *OpListsPanel::makeMoreMenu()
{
    auto *const menu = new QMenu(this);
    const auto add = [&](const QString &text, void (PolicyCommands::*slot)()) {
        m_documentActions.push_back(menu->addAction(text, m_commands, slot));
    };
    add(tr("&Edit by Pattern\u2026"), &PolicyCommands::editByPattern);
    add(tr("&Copy as Python Call"), &PolicyCommands::copyCall);
    menu->addSeparator();
    add(tr("&Load Policy\u2026"), &PolicyCommands::loadPolicy);
    add(tr("&Import Lists\u2026"), &PolicyCommands::importLists);
    add(tr("&Save Policy\u2026"), &PolicyCommands::savePolicy);
    add(tr("&Reset Lists"), &PolicyCommands::resetLists);
    return menu;
}

void OpListsPanel::addKeys()
{
    const auto addKey = [this](const QString &text, const QKeySequence &keys, auto slot) {
        auto *const action = new QAction(text, m_view);
        action->setShortcut(keys);
        action->setShortcutContext(Qt::WidgetShortcut);
        connect(action, &QAction::triggered, this, slot);
        m_view->addAction(action);
    };
    for (const ListKey &one : kListKeys) {
        addKey(tr("To %1").arg(titleOf(one.list, tensor::DType::F16)), QKeySequence(one.key),
               [this, list = one.list] { moveSelected(list); });
    }
    addKey(tr("Remove from the List"), QKeySequence::Delete, [this] { removeSelected(); });
}

void OpListsPanel::addKeysTo(QWidget *view)
{
    for (const ListKey &one : kListKeys) {
        auto *const action = new QAction(tr("To %1").arg(titleOf(one.list, tensor::DType::F16)), view);
        action->setShortcut(QKeySequence(one.key));
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut); // a field that is typed in comes first
        connect(action, &QAction::triggered, this, [this, view, list = one.list] {
            moveChosenNodes(list, view->mapToGlobal(view->rect().center()));
        });
        view->addAction(action);
    }
}

} // namespace halftone::widgets
