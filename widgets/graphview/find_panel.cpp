#include "widgets/graphview/find_panel.h"

#include "core/session/node_query.h"
#include "widgets/common/formatters.h"
#include "widgets/common/query_texts.h"
#include "widgets/common/short_names.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QScopedValueRollback>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <functional>
#include <utility>

namespace halftone::widgets {
namespace {

constexpr int kOperator = Qt::UserRole; ///< of a row, whose text is the node's name

/// The name, cut where it tells least, and the operator at the right.
class FoundDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void setNames(ShortNames names) { m_names = std::move(names); }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        QStyleOptionViewItem row = option;
        initStyleOption(&row, index);
        const QStyle *const style = option.widget ? option.widget->style() : QApplication::style();
        const QRect room = style->subElementRect(QStyle::SE_ItemViewItemText, &row, option.widget);
        const QString op
            = row.fontMetrics.elidedText(index.data(kOperator).toString(), Qt::ElideRight, room.width() / 2);
        const int gap = 2 * row.fontMetrics.averageCharWidth();
        row.text = m_names.fitted(row.text, room.width() - row.fontMetrics.horizontalAdvance(op) - gap,
                                  row.fontMetrics);
        style->drawControl(QStyle::CE_ItemViewItem, &row, painter, option.widget);
        const bool isSelected = (row.state & QStyle::State_Selected) != 0;
        painter->setPen(
            row.palette.color(isSelected ? QPalette::HighlightedText : QPalette::PlaceholderText));
        painter->drawText(room, Qt::AlignRight | Qt::AlignVCenter, op);
    }

    /// A row is as wide as the list, whatever the name.
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        return {1, QStyledItemDelegate::sizeHint(option, index).height()};
    }

private:
    ShortNames m_names;
};

/// Rows can be dragged away: what they name is told by the panel.
class FoundList : public QListView
{
public:
    FoundList(std::function<void()> drag, QWidget *parent)
        : QListView(parent)
        , m_drag(std::move(drag))
    {
        setSelectionMode(QAbstractItemView::ExtendedSelection);
        setDragDropMode(QAbstractItemView::DragOnly);
        setUniformItemSizes(true);
        setEditTriggers(QAbstractItemView::NoEditTriggers);
        setContextMenuPolicy(Qt::CustomContextMenu);
    }

protected:
    void startDrag(Qt::DropActions) override { m_drag(); }

private:
    std::function<void()> m_drag;
};

constexpr std::size_t kMostRows = 20'000;
constexpr qsizetype kMostCompared = 500; ///< names, for what they share
constexpr int kLeastLines = 5; ///< of the field and the list

} // namespace

FindPanel::FindPanel(DocumentController *controller, QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_text(new QLineEdit(this))
    , m_count(new QLabel(this))
    , m_all(new QToolButton(this))
    , m_list(new FoundList([this] { Q_EMIT dragWanted(); }, this))
    , m_model(new QStandardItemModel(this))
{
    build();
    showOutcome();
    connect(m_text, &QLineEdit::textChanged, this, &FindPanel::search);
    connect(m_all, &QToolButton::clicked, this, &FindPanel::chooseAll);
    connect(m_list->selectionModel(), &QItemSelectionModel::selectionChanged, this, &FindPanel::choose);
    connect(m_list, &QListView::clicked, this, &FindPanel::choose); // also of what is selected here already
    connect(m_list, &QListView::activated, this, [this](const QModelIndex &index) {
        m_at = index.row();
        Q_EMIT nodeActivated(m_found[static_cast<std::size_t>(m_at)]);
    });
    connect(m_list, &QWidget::customContextMenuRequested, this, [this](const QPoint &place) {
        if (m_list->selectionModel()->hasSelection()) {
            choose();
            Q_EMIT menuWanted(m_list->viewport()->mapToGlobal(place));
        }
    });
}

void FindPanel::build()
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(4);
    auto *top = new QHBoxLayout;
    top->setSpacing(4);
    m_text->setPlaceholderText(withQueryExamples(tr("Find:")));
    m_text->setAccessibleName(tr("Find nodes"));
    m_text->setToolTip(queryToolTip());
    m_text->setClearButtonEnabled(true);
    m_text->installEventFilter(this);
    auto *close = new QToolButton(this);
    close->setText(QString(QChar(0x2715)));
    close->setAutoRaise(true);
    close->setAccessibleName(tr("Close the find panel"));
    close->setToolTip(tr("Close (Esc)"));
    top->addWidget(m_text, 1);
    top->addWidget(close);
    column->addLayout(top);
    m_count->setWordWrap(true);
    m_count->setEnabled(true);
    m_all->setText(tr("Select All"));
    m_all->setAutoRaise(true);
    m_all->setToolTip(tr("Select all nodes found (Ctrl+A in the list), to move them together"));
    auto *outcome = new QHBoxLayout;
    outcome->setSpacing(4);
    outcome->addWidget(m_count, 1);
    outcome->addWidget(m_all, 0, Qt::AlignTop);
    column->addLayout(outcome);
    m_list->setModel(m_model);
    m_list->setItemDelegate(new FoundDelegate(m_list));
    m_list->installEventFilter(this);
    m_list->setAccessibleName(tr("Nodes found"));
    m_list->setMinimumHeight(2 * fontMetrics().lineSpacing()); // it scrolls: what is said above it goes first
    column->addWidget(m_list, 1);
    setMinimumWidth(fontMetrics().averageCharWidth() * 34);
    connect(close, &QToolButton::clicked, this, &FindPanel::closed);
}

void FindPanel::open()
{
    show();
    m_text->setFocus(Qt::ShortcutFocusReason);
    m_text->selectAll();
    search();
}

/// What is found comes before how to ask for it, which the field's tool tip tells too.
void FindPanel::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    const QMargins margins = layout()->contentsMargins();
    const int inner = contentsRect().width() - margins.left() - margins.right();
    const int others = margins.top() + margins.bottom() + 2 * layout()->spacing()
        + m_text->sizeHint().height() + m_list->minimumHeight();
    const int beside = m_all->isHidden() ? 0 : m_all->sizeHint().width() + 4;
    m_count->setVisible(height() >= m_count->heightForWidth(inner - beside)
                            + std::max(others, kLeastLines * fontMetrics().lineSpacing()));
}

void FindPanel::refresh()
{
    if (isVisible())
        search();
}

void FindPanel::forget()
{
    m_found.clear();
    fillRows();
    refresh();
}

/// The same nodes as before, such as after an edit, leave the rows as they are, with what is selected of them.
void FindPanel::search()
{
    std::vector<graph::NodeId> before = std::exchange(m_found, {});
    const auto &snapshot = m_controller->snapshot();
    const auto query = session::Query::parse(m_text->text().toStdString(), session::nodeFields());
    m_said = query.ok() ? QString() : queryFault(query.error());
    if (snapshot && query.ok()) {
        session::FoundNodes found = session::findNodes(query.value(), *snapshot, m_controller->figures());
        m_found = std::move(found.nodes);
        m_said = joinedNotes(found.notes);
    }
    if (m_found != before)
        fillRows();
    showOutcome();
    Q_EMIT foundChanged();
}

void FindPanel::fillRows()
{
    const QScopedValueRollback filling(m_isFilling, true);
    m_at = -1;
    m_chosen = 0;
    QStringList names;
    QList<QStandardItem *> rows;
    m_model->clear();
    const auto &snapshot = m_controller->snapshot();
    for (std::size_t k = 0; k < std::min(m_found.size(), kMostRows); ++k) {
        const graph::NodeDef &node = snapshot->graph().node(m_found[k]);
        names << plain(node.name);
        auto *const row = new QStandardItem(names.back());
        row->setData(node.isVariable() ? tr("variable") : plain(node.op), kOperator);
        row->setToolTip(names.back());
        rows << row;
    }
    m_model->invisibleRootItem()->appendRows(rows);
    static_cast<FoundDelegate *>(m_list->itemDelegate())->setNames(ShortNames(names.mid(0, kMostCompared)));
}

/// What a person has selected in the list. All rows stand for all that is found, also for what is in no row.
void FindPanel::choose()
{
    const QModelIndexList rows = m_list->selectionModel()->selectedRows();
    if (m_isFilling || rows.isEmpty())
        return;
    m_at = rows.contains(m_list->currentIndex()) ? m_list->currentIndex().row() : rows.back().row();
    std::vector<graph::NodeId> nodes;
    if (rows.size() == m_model->rowCount()) {
        nodes = m_found;
    } else {
        for (const QModelIndex &row : rows)
            nodes.push_back(m_found[static_cast<std::size_t>(row.row())]);
    }
    m_chosen = nodes.size();
    showOutcome();
    Q_EMIT nodesChosen(nodes, m_found[static_cast<std::size_t>(m_at)]);
}

void FindPanel::chooseAll()
{
    m_list->setFocus(Qt::OtherFocusReason); // its keys move what is selected
    m_list->selectAll();
    choose(); // also where all were selected already
}

void FindPanel::showOutcome()
{
    QString text = m_said;
    if (m_text->text().isEmpty())
        text = queryHelp();
    else if (!m_found.empty() && !text.isEmpty())
        text = countText() + QLatin1Char('\n') + text;
    else if (text.isEmpty())
        text = countText();
    m_count->setText(text);
    m_all->setVisible(m_found.size() > 1);
}

QString FindPanel::countText() const
{
    if (m_found.empty())
        return tr("No node found.");
    if (m_chosen > 1)
        return tr("%1 of %2 selected").arg(m_chosen).arg(m_found.size());
    return m_at < 0 ? tr("%1 found").arg(m_found.size()) : tr("%1 of %2").arg(m_at + 1).arg(m_found.size());
}

std::optional<graph::NodeId> FindPanel::next(bool backward)
{
    if (m_found.empty())
        return std::nullopt;
    const int count = static_cast<int>(m_found.size());
    m_at = m_at < 0 ? (backward ? count - 1 : 0) : (m_at + (backward ? count - 1 : 1)) % count;
    const QScopedValueRollback filling(m_isFilling, true);
    m_chosen = 1;
    m_list->setCurrentIndex(m_model->index(m_at, 0));
    showOutcome();
    return m_found[static_cast<std::size_t>(m_at)];
}

bool FindPanel::eventFilter(QObject *watched, QEvent *event)
{
    // While the panel has the focus Esc closes it. Shift+Esc stops computing here as everywhere.
    const auto isPlainEscape = [](const QKeyEvent &key) {
        return key.key() == Qt::Key_Escape && key.modifiers() == Qt::NoModifier;
    };
    if (event->type() == QEvent::ShortcutOverride && isPlainEscape(*static_cast<QKeyEvent *>(event))) {
        event->accept();
        return true;
    }
    if (watched == m_list && event->type() == QEvent::KeyPress
        && static_cast<QKeyEvent *>(event)->matches(QKeySequence::Copy)) {
        QStringList names;
        QModelIndexList rows = m_list->selectionModel()->selectedRows();
        std::ranges::sort(rows, {}, &QModelIndex::row);
        for (const QModelIndex &row : rows)
            names << row.data().toString();
        QGuiApplication::clipboard()->setText(names.join(QLatin1Char('\n')));
        return true;
    }
    if (watched == m_text && event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            if (const auto node = next((key->modifiers() & Qt::ShiftModifier) != 0))
                Q_EMIT nodeActivated(*node);
            return true;
        }
        if (key->key() == Qt::Key_Down && !m_found.empty()) {
            m_list->setFocus();
            m_list->setCurrentIndex(m_model->index(std::max(0, m_at), 0));
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void FindPanel::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape && event->modifiers() == Qt::NoModifier) {
        Q_EMIT closed();
    } else if (event->key() == Qt::Key_F3) {
        if (const auto node = next((event->modifiers() & Qt::ShiftModifier) != 0))
            Q_EMIT nodeActivated(*node);
    } else {
        QWidget::keyPressEvent(event);
    }
}

} // namespace halftone::widgets
