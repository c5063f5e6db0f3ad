#include "widgets/tables/layers_table.h"

#include "core/session/node_query.h"
#include "widgets/common/filter_field.h"
#include "widgets/common/formatters.h"
#include "widgets/common/query_texts.h"
#include "widgets/common/sort_action.h"
#include "widgets/common/table_copy.h"
#include "widgets/common/table_rows.h"
#include "widgets/common/while_seen.h"
#include "widgets/models/table_csv.h"
#include "widgets/tables/layer_delegate.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QScopedValueRollback>
#include <QStackedLayout>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace halftone::widgets {
namespace {

/// Shown at first; the others are a click away in the header's menu.
constexpr std::array kFirstColumns{
    LayerTableModel::Name,    LayerTableModel::Operator,     LayerTableModel::Precision,
    LayerTableModel::Sqnr,    LayerTableModel::IsolatedSqnr, LayerTableModel::RelativeL2,
    LayerTableModel::MaxAbs,  LayerTableModel::Overflow,     LayerTableModel::Fp32Us,
    LayerTableModel::MixedUs, LayerTableModel::Casts};

} // namespace

LayersTable::LayersTable(DocumentController *controller, QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_seen(new WhileSeen(this, [this] { takeFigures(); }))
    , m_model(new LayerTableModel(this))
    , m_proxy(new LayerFilterProxy(this))
    , m_view(new QTableView(this))
    , m_delegate(new LayerDelegate(this))
    , m_filter(new QLineEdit(this))
    , m_count(new QLabel(this))
    , m_said(new QLabel(this))
    , m_empty(new QLabel(this))
    , m_stack(new QStackedLayout)
    , m_pin(new QToolButton(this))
{
    m_proxy->setSourceModel(m_model);
    build();
    connect(controller, &DocumentController::documentChanged, this, &LayersTable::takeDocument);
    connect(controller, &DocumentController::snapshotChanged, this, &LayersTable::takeDocument);
    connect(controller, &DocumentController::figuresChanged, m_seen, &WhileSeen::ask);
    connect(&controller->selection(), &Selection::changed, this, &LayersTable::showSelection);
    connect(&controller->selection(), &Selection::hoveredChanged, this, &LayersTable::showHovered);
    connect(m_view, &QTableView::entered, this, [this](const QModelIndex &index) {
        m_controller->selection().hover(m_model->nodeAt(m_proxy->mapToSource(index).row()));
    });
    connect(m_filter, &QLineEdit::textChanged, this, &LayersTable::refreshFilter);
    connect(m_pin, &QToolButton::toggled, this, &LayersTable::pinBaseline);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &LayersTable::chooseInSelection);
    connect(m_view, &QTableView::doubleClicked, this, [this](const QModelIndex &index) {
        Q_EMIT m_controller->selection().shownRequested(m_model->nodeAt(m_proxy->mapToSource(index).row()));
    });
    takeDocument();
    takeFigures();
}

void LayersTable::build()
{
    m_filter->setPlaceholderText(withQueryExamples(tr("Filter:")));
    m_filter->setClearButtonEnabled(true);
    m_filter->setAccessibleName(tr("Filter layers"));
    m_filter->setToolTip(queryToolTip());
    m_count->setAccessibleName(tr("Number of layers shown"));
    m_pin->setText(tr("Pin as Baseline"));
    m_pin->setCheckable(true);
    m_pin->setAutoRaise(true);
    m_pin->setToolTip(
        tr("Keep the current state as a baseline and compare later states with it in the columns "
           "marked A and \u0394"));
    auto *const columns = new QToolButton(this);
    columns->setText(tr("Columns \u25be"));
    columns->setAutoRaise(true);
    // Not as its menu, whose arrow would be a second one; a style sheet against it would keep the colours of the theme before.
    connect(columns, &QToolButton::clicked, this, [this, columns] {
        QMenu *const menu = makeColumnMenu(columns);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->popup(columns->mapToGlobal(QPoint(0, columns->height())));
    });
    auto *const save = new QToolButton(this);
    save->setText(tr("Export\u2026"));
    save->setAutoRaise(true);
    save->setToolTip(tr("Export the shown rows as CSV"));
    connect(save, &QToolButton::clicked, this, &LayersTable::exportCsv);

    m_view->setModel(m_proxy);
    new NameFollower(m_view, m_model, LayerTableModel::Name, [this](ShortNames names) {
        m_freeWidth->setLongest(names.longest());
        m_delegate->setNames(std::move(names));
    });
    m_view->setItemDelegate(m_delegate);
    leadDownTo(m_filter, m_view);
    m_view->viewport()->installEventFilter(this);
    setUpRows(m_view, tr("Layers"));
    m_view->sortByColumn(-1, Qt::AscendingOrder);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    QHeaderView *const header = m_view->horizontalHeader();
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(header, &QWidget::customContextMenuRequested, this, [this, header](const QPoint &place) {
        QMenu *const menu = makeColumnMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->popup(header->mapToGlobal(place));
    });
    const int unit = fontMetrics().averageCharWidth();
    for (int column = 0; column < LayerTableModel::ColumnCount; ++column) {
        const QString title = m_model->headerData(column, Qt::Horizontal).toString();
        const int width = column == LayerTableModel::Name ? 28 * unit
            : column == LayerTableModel::Operator         ? 18 * unit
            : LayerTableModel::isNumber(column)           ? 12 * unit
            : column == LayerTableModel::Precision        ? 19 * unit
                                                          : 14 * unit;
        m_view->setColumnWidth(column, std::max(width, fontMetrics().horizontalAdvance(title) + 4 * unit));
        m_view->setColumnHidden(column, std::ranges::find(kFirstColumns, column) == kFirstColumns.end());
    }
    m_freeWidth = new FreeWidth(m_view, LayerTableModel::Name, 28 * unit);
    auto *const showAction = new QAction(tr("Show in the Graph"), m_view);
    showAction->setShortcut(Qt::Key_Return);
    showAction->setShortcutContext(Qt::WidgetShortcut);
    connect(showAction, &QAction::triggered, this, [this] {
        if (const auto current = m_controller->selection().current())
            Q_EMIT m_controller->selection().shownRequested(*current);
    });
    m_view->addActions({makeCopyAction(m_view), showAction, sortAction(m_view)});
    m_view->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_view, &QWidget::customContextMenuRequested, this, [this](const QPoint &place) {
        auto *const menu = new QMenu(this);
        menu->setObjectName(QStringLiteral("rowMenu"));
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->addActions(m_view->actions());
        Q_EMIT rowMenuMade(menu);
        menu->popup(m_view->viewport()->mapToGlobal(place));
    });

    auto *const top = new QHBoxLayout;
    top->setSpacing(4);
    top->addWidget(m_filter, 1);
    top->addWidget(m_count);
    top->addWidget(m_pin);
    top->addWidget(columns);
    top->addWidget(save);
    auto *const layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->setSpacing(4);
    layout->addLayout(top);
    m_said->setWordWrap(true);
    m_said->setAccessibleName(tr("Filter message"));
    m_said->hide();
    layout->addWidget(m_said);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_empty->setWordWrap(true);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_view);
    layout->addLayout(m_stack, 1);
    setTabOrder(save, m_view);
    setFocusProxy(m_view);
}

QMenu *LayersTable::makeColumnMenu(QWidget *parent)
{
    auto *const menu = new QMenu(parent);
    for (int column = 0; column < LayerTableModel::ColumnCount; ++column) {
        QAction *const action = menu->addAction(LayerTableModel::columnTitle(column));
        action->setCheckable(true);
        action->setChecked(!m_view->isColumnHidden(column));
        // The name tells which layer it is; a baseline that is not pinned, and backends that were not compared, have nothing to show.
        action->setEnabled(column != LayerTableModel::Name
                           && (!LayerTableModel::isBaselineColumn(column) || m_model->hasBaseline())
                           && (!LayerTableModel::isBackendColumn(column) || m_model->hasBackends()));
        connect(action, &QAction::toggled, this,
                [this, column](bool on) { m_view->setColumnHidden(column, !on); });
    }
    return menu;
}

QTableView *LayersTable::view() const
{
    m_seen->catchUp();
    return m_view;
}

LayerTableModel *LayersTable::model() const
{
    m_seen->catchUp();
    return m_model;
}

LayerFilterProxy *LayersTable::proxy() const
{
    m_seen->catchUp();
    return m_proxy;
}

void LayersTable::takeDocument()
{
    const bool hadBaseline = m_model->hasBaseline();
    {
        const QScopedValueRollback<bool> guard(m_isSyncing, true);
        m_model->setSnapshot(m_controller->snapshot());
    }
    if (hadBaseline && !m_model->hasBaseline()) {
        m_pin->setChecked(false);
        setBaselineColumns(false);
    }
    m_pin->setEnabled(m_controller->snapshot() != nullptr);
    showCount();
    showSelection();
}

void LayersTable::takeFigures()
{
    m_model->setFigures(m_controller->figures());
    if (m_model->hasBackends() != m_hadBackends)
        setBackendColumns(m_model->hasBackends());
    if (m_model->hasRuntime() != m_hadRuntime) {
        m_hadRuntime = m_model->hasRuntime();
        m_view->setColumnHidden(LayerTableModel::RanIn, !m_hadRuntime);
    }
    showCount();
}

/// Beside the errors of the conversion, where they come in view.
void LayersTable::setBackendColumns(bool shown)
{
    m_hadBackends = shown;
    QHeaderView *const header = m_view->horizontalHeader();
    for (const int column : {LayerTableModel::BackendSqnr, LayerTableModel::BackendMaxAbs}) {
        if (shown && m_view->isColumnHidden(column))
            header->moveSection(header->visualIndex(column), header->visualIndex(LayerTableModel::Sqnr));
        m_view->setColumnHidden(column, !shown);
    }
    if (!shown)
        m_view->setColumnHidden(LayerTableModel::BackendRelativeL2, true);
}

void LayersTable::setFilterText(const QString &text)
{
    m_filter->setText(text);
}

void LayersTable::setConstantsShown(bool areShown)
{
    {
        const QScopedValueRollback<bool> guard(m_isSyncing, true);
        m_proxy->setConstantsShown(areShown);
    }
    showCount();
    showSelection();
}

void LayersTable::refreshFilter()
{
    auto query = session::Query::parse(m_filter->text().toStdString(), session::nodeFields());
    m_error = query.ok() ? QString() : queryFault(query.error());
    {
        const QScopedValueRollback<bool> guard(m_isSyncing, true);
        m_proxy->setQuery(query.ok() ? std::move(query).value() : session::Query());
    }
    showCount();
    showSelection();
}

void LayersTable::showCount()
{
    const bool isOpen = m_controller->snapshot() != nullptr;
    const bool isNothing = isOpen && m_proxy->rowCount() == 0;
    const int hidden = m_proxy->hiddenConstants();
    const QString ofHidden = hidden == 0
        ? QString()
        : tr("Constants that are not listed: %1 (View \u203a Show All Nodes).").arg(hidden);
    m_count->setToolTip(ofHidden);
    m_empty->setText(!isOpen         ? tr("Open a model to see its layers.")
                         : isNothing ? tr("No layer matches the filter.") + QLatin1Char('\n') + ofHidden
                                     : QString());
    m_stack->setCurrentWidget(isOpen && !isNothing ? static_cast<QWidget *>(m_view) : m_empty);
    m_filter->setEnabled(isOpen);
    m_count->setVisible(isOpen);
    const QString said = m_error.isEmpty() ? joinedNotes(m_proxy->notes()) : m_error;
    m_said->setText(said);
    m_said->setVisible(isOpen && !said.isEmpty());
    if (!isOpen)
        return;
    const int all = m_model->rowCount() - (m_proxy->areConstantsShown() ? 0 : m_model->constantCount());
    const int shown = m_proxy->rowCount();
    m_count->setText(shown == all ? tr("%1 layers").arg(all) : tr("%1 of %2 layers").arg(shown).arg(all));
}

void LayersTable::setBaselineColumns(bool shown)
{
    for (int column = 0; column < LayerTableModel::ColumnCount; ++column) {
        if (LayerTableModel::isBaselineColumn(column))
            m_view->setColumnHidden(column, !shown);
    }
}

void LayersTable::pinBaseline(bool on)
{
    m_seen->catchUp();
    m_pin->setChecked(on);
    if (on == m_model->hasBaseline())
        return;
    if (on)
        m_model->pinBaseline();
    else
        m_model->clearBaseline();
    m_pin->setText(on ? tr("Baseline Pinned") : tr("Pin as Baseline"));
    setBaselineColumns(on);
}

/// The table's selection becomes everybody's.
void LayersTable::chooseInSelection()
{
    if (m_isSyncing)
        return;
    const QScopedValueRollback<bool> guard(m_isSyncing, true);
    std::vector<graph::NodeId> nodes;
    for (const QItemSelectionRange &range : m_view->selectionModel()->selection()) {
        for (int row = range.top(); row <= range.bottom(); ++row)
            nodes.push_back(m_model->nodeAt(m_proxy->mapToSource(m_proxy->index(row, 0)).row()));
    }
    const QModelIndex index = m_view->currentIndex();
    std::optional<graph::NodeId> current;
    if (index.isValid() && m_view->selectionModel()->isRowSelected(index.row()))
        current = m_model->nodeAt(m_proxy->mapToSource(index).row());
    else if (!nodes.empty())
        current = nodes.back();
    m_controller->selection().set(std::move(nodes), current);
}

bool LayersTable::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::Leave)
        m_controller->selection().hover(std::nullopt);
    return QWidget::eventFilter(watched, event);
}

void LayersTable::showHovered()
{
    const auto node = m_controller->selection().hovered();
    const int row = node ? m_model->rowOf(*node) : -1;
    m_delegate->setHovered(row < 0 ? QModelIndex() : m_proxy->mapFromSource(m_model->index(row, 0)));
    m_view->viewport()->update();
}

void LayersTable::showSelection()
{
    if (m_isSyncing)
        return;
    const QScopedValueRollback<bool> guard(m_isSyncing, true);
    const Selection &selection = m_controller->selection();
    std::vector<int> rows;
    const auto rowOf = [this](graph::NodeId node) {
        const int row = m_model->rowOf(node);
        return row < 0 ? -1 : m_proxy->mapFromSource(m_model->index(row, 0)).row();
    };
    for (const graph::NodeId node : selection.nodes()) {
        if (const int row = rowOf(node); row >= 0)
            rows.push_back(row);
    }
    std::ranges::sort(rows);
    QItemSelection chosen;
    for (std::size_t k = 0; k < rows.size();) {
        std::size_t end = k + 1;
        while (end < rows.size() && rows[end] == rows[end - 1] + 1)
            ++end;
        chosen.select(m_proxy->index(rows[k], 0),
                      m_proxy->index(rows[end - 1], LayerTableModel::ColumnCount - 1));
        k = end;
    }
    m_view->selectionModel()->select(chosen, QItemSelectionModel::ClearAndSelect);
    if (const auto current = selection.current()) {
        if (const int row = rowOf(*current); row >= 0) {
            m_view->selectionModel()->setCurrentIndex(m_proxy->index(row, LayerTableModel::Name),
                                                      QItemSelectionModel::NoUpdate);
            m_view->scrollTo(m_proxy->index(row, LayerTableModel::Name));
        }
    }
}

QString LayersTable::csv() const
{
    m_seen->catchUp();
    const int columns = m_model->hasBackends() ? LayerTableModel::ColumnCount
        : m_model->hasBaseline()               ? LayerTableModel::BackendSqnr
                                               : LayerTableModel::BaselinePrecision;
    constexpr int kDigits = 9;
    return tableCsv(*m_proxy,
                    {columns, LayerTableModel::SortRole, &LayerTableModel::isNumber, kDigits,
                     m_model->hasRuntime() ? -1 : int{LayerTableModel::RanIn}});
}

QString LayersTable::tsv() const
{
    return copiedRows(*view());
}

void LayersTable::copy()
{
    QGuiApplication::clipboard()->setText(tsv());
}

void LayersTable::exportCsv()
{
    widgets::exportCsv(this, tr("Export Layers"), QStringLiteral("layers.csv"), [this] { return csv(); });
}

} // namespace halftone::widgets
