#include "widgets/oplists/op_lists_panel.h"

#include "core/dialect/dialect.h"
#include "core/policy/op_lists.h"
#include "widgets/common/choice_box.h"
#include "widgets/common/filter_field.h"
#include "widgets/common/formatters.h"
#include "widgets/common/text_block.h"
#include "widgets/models/list_removal.h"
#include "widgets/oplists/conditions_dialog.h"
#include "widgets/oplists/move_menus.h"
#include "widgets/oplists/op_list_view.h"
#include "widgets/oplists/policy_commands.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QToolButton>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr int kMessageLines = 4;

} // namespace

OpListsPanel::OpListsPanel(DocumentController *controller, QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_model(new OpListModel(this))
    , m_view(new OpListView(m_model, this))
    , m_filter(new QLineEdit(this))
    , m_version(new ChoiceBox(this))
    , m_every(new QCheckBox(tr("Operators not in this model"), this))
    , m_message(new TextBlock(kMessageLines, this))
    , m_more(new QToolButton(this))
    , m_commands(new PolicyCommands(controller, this))
    , m_effects(controller)
{
    build();
    addKeys();
    setFocusProxy(m_view);
    connect(controller, &DocumentController::documentChanged, this, &OpListsPanel::refresh);
    connect(controller, &DocumentController::snapshotChanged, this, &OpListsPanel::refresh);
    connect(controller, &DocumentController::editRefused, this, &OpListsPanel::showMessage);
    connect(m_commands, &PolicyCommands::said, this, &OpListsPanel::showMessage);
    connect(m_filter, &QLineEdit::textChanged, this, &OpListsPanel::refreshFilter);
    leadDownTo(m_filter, m_view);
    connect(m_every, &QCheckBox::toggled, this, &OpListsPanel::refreshFilter);
    connect(m_model, &OpListModel::dropped, this,
            [this](const ListPayload &payload, ListId to) { move(payload, to, QCursor::pos()); });
    connect(m_view, &OpListView::targetHovered, this, &OpListsPanel::preview);
    connect(m_view, &OpListView::dragEnded, this, &OpListsPanel::showHint);
    connect(m_view, &QTreeView::activated, this, &OpListsPanel::activate);
    connect(m_view, &QWidget::customContextMenuRequested, this, &OpListsPanel::showContextMenu);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, &OpListsPanel::showHint);
    refresh();
}

void OpListsPanel::refresh()
{
    const auto &snapshot = m_controller->snapshot();
    const std::vector<std::string> selected = selectedNames();
    m_model->setSnapshot(snapshot);
    selectAgain(selected);
    // Now, and not in the midst of painting the few rows whose counts changed, which would leave the others as they were.
    m_view->doItemsLayout();
    const bool isOpen = snapshot != nullptr;
    for (QWidget *widget : std::initializer_list<QWidget *>{m_filter, m_version, m_every})
        widget->setEnabled(isOpen);
    for (QAction *action : m_documentActions)
        action->setEnabled(isOpen);
    showChoices();
    showHint();
}

std::vector<std::string> OpListsPanel::selectedNames() const
{
    std::vector<std::string> names;
    for (const QModelIndex &index : m_view->selectedEntries())
        if (const ListEntry &entry = *m_model->entryAt(index); entry.members.empty())
            names.push_back(entry.name);
        else
            names.push_back(entry.members.front());
    return names;
}

/// What has moved to another list stays selected there, so that the next key acts on it again.
void OpListsPanel::selectAgain(const std::vector<std::string> &names)
{
    if (names.empty() || !m_view->selectedEntries().isEmpty())
        return;
    QModelIndex current;
    for (const std::string &name : names) {
        for (const ListId list : kAllLists) {
            const QModelIndex at = m_model->indexOf(list, name);
            if (!at.isValid())
                continue;
            if (!current.isValid()) // sets the selection, the rest is added to it
                m_view->setCurrentIndex(at);
            else
                m_view->selectionModel()->select(at, QItemSelectionModel::Select | QItemSelectionModel::Rows);
            current = at;
            break;
        }
    }
    if (current.isValid())
        m_view->scrollTo(current);
}

void OpListsPanel::showChoices()
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        return;
    fillVersions(dialect::of(snapshot->graph()));
    m_version->setEnabled(m_version->count() > 1);
    m_version->setCurrentIndex(m_version->findData(
        plain(snapshot->builtIn ? snapshot->builtIn->version : snapshot->policy->listVersion)));
}

/// The built-in lists that the model's format has; where there is but one set, nothing is to be chosen.
void OpListsPanel::fillVersions(const dialect::Dialect &dialect)
{
    if (m_versionsOf == &dialect)
        return;
    m_versionsOf = &dialect;
    m_version->clear();
    const auto versions = dialect.listVersions();
    const QString title = plain(std::string(dialect.title()));
    for (const std::string_view version : versions) {
        const QString name = plain(std::string(version));
        m_version->addItem(versions.size() == 1 ? title : title + ' ' + name, name);
    }
}

void OpListsPanel::setConstantsShown(bool areShown)
{
    ListFilter filter = m_model->filter();
    filter.constants = areShown;
    m_model->setFilter(filter);
}

void OpListsPanel::refreshFilter()
{
    ListFilter filter = m_model->filter();
    filter.everyOperator = m_every->isChecked();
    filter.text = m_filter->text().trimmed();
    m_model->setFilter(filter);
    if (!m_filter->text().isEmpty())
        m_view->expandAll();
}

QString OpListsPanel::message() const
{
    return m_message->text();
}

void OpListsPanel::showMessage(const QString &text)
{
    m_message->setForegroundRole(QPalette::WindowText);
    m_message->setText(text);
    m_message->setToolTip(text); // whatever its length
}

void OpListsPanel::showHint()
{
    m_effects.forget();
    m_message->setForegroundRole(QPalette::PlaceholderText);
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        m_message->setText(tr("Open a model to see the precision requested for its operators."));
    else if (snapshot->error)
        showMessage(plain(snapshot->error->message()));
    else if (m_view->selectedEntries().isEmpty())
        m_message->setText(tr("Drag operators between the lists, or nodes from the graph onto one."));
    else
        m_message->setText(
            tr("T %1, I int8, F fp32, W widest, C conditional, X exclude, N neutral, Del remove")
                .arg(titleOf(ListId::Target, snapshot->target())));
    m_message->setToolTip(m_message->text());
}

/// Why there is nothing that can be previewed; empty: there is.
QString OpListsPanel::refusalOf(const ListMove &move, ListId to) const
{
    if (!move.isPossible())
        return tr("Not to %1: %2").arg(titleOf(to, m_controller->snapshot()->target()), move.refusal);
    return move.conditionsOf
        ? tr("%1 to conditional: choose the attribute and its values next").arg(plain(*move.conditionsOf))
        : QString();
}

void OpListsPanel::preview(const ListPayload &payload, ListId to)
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        return;
    const ListMove move = moveTo(*snapshot, payload, to);
    if (const QString refusal = refusalOf(move, to); !refusal.isEmpty()) {
        m_effects.forget();
        showMessage(refusal);
        QToolTip::showText(QCursor::pos(), refusal, this); // where the eye is
        return;
    }
    std::vector<policy::Edit> edits;
    QStringList subjects;
    for (const MoveChoice &choice : move.choices) {
        if (!choice.edit)
            continue;
        edits.push_back(*choice.edit);
        subjects << choice.subject;
    }
    previewEdits(edits, subjects, true);
}

/// What they are at once, and what they would do as soon as that is known.
void OpListsPanel::previewEdits(const std::vector<policy::Edit> &edits, const QStringList &subjects,
                                bool isAtPointer)
{
    const auto show = [this, isAtPointer](const QStringList &lines) {
        const QString text = lines.join(QLatin1Char('\n'));
        showMessage(text);
        if (isAtPointer)
            QToolTip::showText(QCursor::pos(), text, this);
    };
    m_effects.ask(edits, [show, subjects](const std::vector<session::EditEffect> &effects) {
        QStringList lines;
        for (std::size_t k = 0; k < effects.size(); ++k)
            lines << consequence(subjects[static_cast<qsizetype>(k)], effects[k]);
        show(lines);
    });
    if (m_effects.isAsking())
        show(subjects);
}

void OpListsPanel::apply(const policy::Edit &edit)
{
    if (!m_controller->apply(edit))
        showChoices();
}

/// The snapshot with the policy of now, which on a large model may be ahead of it.
session::Snapshot OpListsPanel::newest() const
{
    session::Snapshot snapshot = *m_controller->snapshot();
    snapshot.policy = std::make_shared<const policy::Policy>(m_controller->document()->policy());
    return snapshot;
}

void OpListsPanel::move(const ListPayload &payload, ListId to, const QPoint &place)
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        return;
    const ListMove wanted = moveTo(newest(), payload, to);
    if (!wanted.isPossible()) {
        refuse(refusalOf(wanted, to));
        return;
    }
    if (wanted.conditionsOf) {
        editConditions(*wanted.conditionsOf);
        return;
    }
    if (wanted.choices.size() == 1 && wanted.choices.front().edit) {
        apply(*wanted.choices.front().edit);
        return;
    }
    makeChoiceMenu(
        wanted, this, [this](const policy::Edit &edit) { apply(edit); }, m_effects,
        [this](const QString &text) { showMessage(text); })
        ->popup(place);
}

QMenu *OpListsPanel::moveMenu(const ListPayload &payload, QWidget *parent)
{
    if (!m_controller->snapshot())
        return new QMenu(tr("&Move To"), parent);
    return makeMoveMenu(
        newest(), payload, parent, [this, payload](ListId list) { move(payload, list, QCursor::pos()); },
        [this, payload](ListId list) { preview(payload, list); });
}

QMenu *OpListsPanel::unitMenu(const ListPayload &payload, QWidget *parent)
{
    if (!m_controller->snapshot())
        return nullptr;
    return makeUnitMenu(
        newest(), payload, parent, [this](const policy::Edit &edit) { apply(edit); },
        [this](const MoveChoice &choice) { previewEdits({*choice.edit}, {choice.subject}, false); });
}

void OpListsPanel::moveSelected(ListId to)
{
    const QModelIndexList chosen = m_view->selectedEntries();
    if (chosen.isEmpty())
        return;
    move(m_model->payloadAt(chosen), to,
         m_view->viewport()->mapToGlobal(m_view->visualRect(chosen.front()).bottomLeft()));
}

void OpListsPanel::moveChosenNodes(ListId to, const QPoint &place)
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        return;
    ListPayload payload;
    for (const graph::NodeId node : m_controller->selection().nodes())
        payload.nodes.push_back(snapshot->graph().node(node).name);
    if (payload.isEmpty())
        refuse(tr("Nothing in the selection can be moved to a list."));
    else
        move(payload, to, place);
}

/// In the panel, and where everybody sees it when the panel is out of sight.
void OpListsPanel::refuse(const QString &why)
{
    if (visibleRegion().isEmpty())
        Q_EMIT m_controller->editRefused(why);
    showMessage(why);
}

void OpListsPanel::removeSelected()
{
    std::vector<PlacedEntry> chosen;
    for (const QModelIndex &index : m_view->selectedEntries())
        chosen.push_back({*m_model->listAt(index), *m_model->entryAt(index)});
    if (chosen.empty() || !m_controller->snapshot())
        return;
    if (const std::optional<policy::Edit> edit = removalOf(newest(), chosen))
        apply(*edit);
    else
        showMessage(tr("Neutral operators are in no list, so they cannot be removed."));
}

void OpListsPanel::editConditions(const std::string &op)
{
    const auto &snapshot = m_controller->snapshot();
    const auto at = snapshot->rules->conditions.find(op);
    const ConditionsDialog::Rules rules
        = at == snapshot->rules->conditions.end() ? ConditionsDialog::Rules() : at->second;
    auto *const dialog = new ConditionsDialog(
        dialect::of(snapshot->graph()), op, rules,
        [this, op](const ConditionsDialog::Rules &wanted, const std::function<void(const QString &)> &show) {
            const policy::Edit edit = policy::SetConditions{op, wanted};
            m_effects.ask({edit},
                          [show, what = plain(policy::describe(edit))](
                              const std::vector<session::EditEffect> &effects) {
                              show(consequence(what, effects.front()));
                          });
        },
        this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, op, rules] {
        if (dialog->rules() != rules)
            apply(policy::SetConditions{op, dialog->rules()});
    });
    dialog->open();
}

/// Enter or double click: conditions are edited, other entries show their nodes.
void OpListsPanel::activate(const QModelIndex &index)
{
    const ListEntry *const entry = m_model->entryAt(index);
    const auto &snapshot = m_controller->snapshot();
    if (!entry || !snapshot)
        return;
    if (entry->kind == ListEntry::Kind::Condition) {
        editConditions(entry->name);
        return;
    }
    std::vector<graph::NodeId> nodes;
    const graph::Graph &graph = snapshot->graph();
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        const bool isMeant = entry->kind == ListEntry::Kind::Nodes
            ? std::ranges::binary_search(entry->members, node.name)
            : (entry->kind == ListEntry::Kind::Operator ? node.op : node.name) == entry->name;
        if (!node.isVariable() && isMeant)
            nodes.push_back(id);
    }
    if (nodes.empty())
        return;
    const graph::NodeId first = nodes.front();
    m_controller->selection().set(std::move(nodes), first);
    Q_EMIT m_controller->selection().shownRequested(first);
}

void OpListsPanel::showContextMenu(const QPoint &place)
{
    const QModelIndexList chosen = m_view->selectedEntries();
    auto *const menu = new QMenu(this);
    menu->setObjectName(QStringLiteral("listMenu"));
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (!chosen.isEmpty()) {
        const ListPayload payload = m_model->payloadAt(chosen);
        if (!payload.isEmpty())
            menu->addMenu(moveMenu(payload, menu));
        if (QMenu *const block = unitMenu(payload, menu))
            menu->addMenu(block);
        const ListEntry *const entry = m_model->entryAt(chosen.front());
        if (chosen.size() == 1 && entry->kind == ListEntry::Kind::Condition)
            menu->addAction(tr("&Conditions\u2026"), this, [this, op = entry->name] { editConditions(op); });
        menu->addAction(tr("&Remove from the List\tDel"), this, &OpListsPanel::removeSelected);
        if (entry->kind == ListEntry::Kind::Nodes)
            menu->addAction(tr("&List Its Nodes\tRight"), m_view, &OpListView::openGroup);
        else if (m_view->isOfOpenGroup(chosen.front()))
            menu->addAction(tr("List Nodes of One &Kind Together\tLeft"), m_view, &OpListView::closeGroup);
        menu->addAction(tr("&Select Its Nodes"), this,
                        [this, at = QPersistentModelIndex(chosen.front())] { activate(at); })
            ->setEnabled(entry->kind != ListEntry::Kind::Condition);
        menu->addSeparator();
    }
    menu->addActions({m_documentActions.begin(), m_documentActions.end()});
    menu->popup(m_view->viewport()->mapToGlobal(place));
}

} // namespace halftone::widgets
