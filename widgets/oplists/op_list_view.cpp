#include "widgets/oplists/op_list_view.h"

#include "widgets/common/drag_label.h"
#include "widgets/common/short_names.h"
#include "widgets/models/precision_swatch.h"

#include <QDrag>
#include <QDragEnterEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMimeData>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr int kMostBeside = 200; ///< names that are compared for what they share

/// Of one list: they stand below each other.
QStringList namesBeside(const QModelIndex &index)
{
    const QModelIndex list = index.parent();
    const int count = index.model()->rowCount(list);
    const int first = std::max(0, std::min(index.row() - kMostBeside / 2, count - kMostBeside));
    QStringList names;
    for (int row = first; row < std::min(count, first + kMostBeside); ++row)
        names << index.model()->index(row, OpListModel::Name, list).data().toString();
    return names;
}

/// Swatches for lists, grey for what does nothing.
class EntryDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override
    {
        QStyledItemDelegate::initStyleOption(option, index);
        if (index.column() == OpListModel::Name && !index.parent().isValid()) {
            const QVariant precision = index.data(OpListModel::PrecisionRole);
            const int side = option->fontMetrics.ascent();
            option->features |= QStyleOptionViewItem::HasDecoration;
            option->decorationSize = QSize(side, side);
            // Lists that stand for no precision keep the room, so that all titles begin at one place.
            option->icon = precision.isValid()
                ? precisionSwatch(static_cast<tensor::DType>(precision.toInt()), option->palette, side)
                : QIcon();
        }
        if (index.column() == OpListModel::Name && index.parent().isValid()) {
            const int margin = option->widget->style()->pixelMetric(QStyle::PM_FocusFrameHMargin, option) + 1;
            const int room = option->rect.width() - 2 * margin;
            if (room > 0 && option->fontMetrics.horizontalAdvance(option->text) > room)
                option->text = ShortNames(namesBeside(index)).fitted(option->text, room, option->fontMetrics);
        }
        const bool isIdle = index.data(OpListModel::IdleRole).toBool();
        if (isIdle || (index.parent().isValid() && index.column() == OpListModel::Origin))
            option->palette.setColor(QPalette::Text, option->palette.color(QPalette::PlaceholderText));
        if (isIdle && index.column() == OpListModel::Name)
            option->font.setItalic(true);
    }
};

} // namespace

OpListView::OpListView(OpListModel *model, QWidget *parent)
    : QTreeView(parent)
    , m_model(model)
{
    setModel(model);
    setItemDelegate(new EntryDelegate(this));
    setAccessibleName(tr("Operator lists"));
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setDragDropMode(QAbstractItemView::DragDrop);
    setDefaultDropAction(Qt::MoveAction);
    setDropIndicatorShown(false);
    setUniformRowHeights(true);
    setTextElideMode(Qt::ElideMiddle);
    setExpandsOnDoubleClick(true);
    setAllColumnsShowFocus(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setIndentation(fontMetrics().horizontalAdvance(QLatin1Char('m')) + 4);
    header()->setStretchLastSection(false);
    header()->setSectionsMovable(false);
    header()->setSectionResizeMode(OpListModel::Name, QHeaderView::Stretch);
    header()->setSectionResizeMode(OpListModel::Origin, QHeaderView::ResizeToContents);
    header()->setSectionResizeMode(OpListModel::Nodes, QHeaderView::ResizeToContents);
    expandAll();
    connect(model, &QAbstractItemModel::modelReset, this, &QTreeView::expandAll);
}

QModelIndexList OpListView::selectedEntries() const
{
    QModelIndexList entries;
    for (const QModelIndex &index : selectionModel()->selectedRows()) {
        if (m_model->entryAt(index))
            entries << index;
    }
    return entries;
}

bool OpListView::isOfOpenGroup(const QModelIndex &entry) const
{
    const ListEntry *const shown = m_model->entryAt(entry);
    return shown && shown->kind == ListEntry::Kind::Node
        && m_model->isOpened(*m_model->listAt(entry), shown->op);
}

void OpListView::openGroup()
{
    const ListEntry *const entry = m_model->entryAt(currentIndex());
    if (entry && entry->kind == ListEntry::Kind::Nodes)
        setGroupOpen(true);
}

void OpListView::closeGroup()
{
    if (isOfOpenGroup(currentIndex()))
        setGroupOpen(false);
}

/// The row of the same node, or the one that holds it, is current afterwards.
void OpListView::setGroupOpen(bool isOpen)
{
    const ListEntry &entry = *m_model->entryAt(currentIndex());
    const ListId list = *m_model->listAt(currentIndex());
    const std::string name = isOpen ? entry.members.front() : entry.name;
    m_model->setOpened(list, isOpen ? entry.name : std::string(entry.op), isOpen);
    setCurrentIndex(m_model->indexOf(list, name));
    scrollTo(currentIndex());
}

/// Right and Left open and close what many nodes share, as they do with the lists.
void OpListView::keyPressEvent(QKeyEvent *event)
{
    const ListEntry *const entry = m_model->entryAt(currentIndex());
    const bool isPlain = event->modifiers() == Qt::NoModifier;
    if (isPlain && event->key() == Qt::Key_Right && entry && entry->kind == ListEntry::Kind::Nodes)
        openGroup();
    else if (isPlain && event->key() == Qt::Key_Left && isOfOpenGroup(currentIndex()))
        closeGroup();
    else
        QTreeView::keyPressEvent(event);
}

/// Names what is dragged beside the pointer: a picture of the rows, as views make it, would cover the list under it.
void OpListView::startDrag(Qt::DropActions actions)
{
    const QModelIndexList entries = selectedEntries();
    if (entries.isEmpty())
        return;
    QMimeData *const carried = m_model->mimeData(entries);
    if (!carried)
        return;
    auto *const drag = new QDrag(this); // Qt deletes it when the drag is over
    drag->setMimeData(carried);
    drag->setPixmap(dragLabel(entries.size() == 1 ? entries.front().data().toString()
                                                  : tr("%1 entries").arg(entries.size()),
                              *this));
    drag->setHotSpot(kBesidePointer);
    drag->exec(actions, Qt::MoveAction);
}

void OpListView::dragEnterEvent(QDragEnterEvent *event)
{
    if (!event->mimeData()->hasFormat(QLatin1String(kOpsMime))
        && !event->mimeData()->hasFormat(QLatin1String(kNodesMime))) {
        event->ignore();
        return;
    }
    for (const ListId list : kAllLists)
        m_takes[static_cast<std::size_t>(list)]
            = m_model->canDropMimeData(event->mimeData(), Qt::MoveAction, -1, -1, m_model->listIndex(list));
    m_model->markTargets(m_takes);
    m_hovered.reset();
    setState(DraggingState);
    viewport()->update();
    event->acceptProposedAction();
}

void OpListView::dragMoveEvent(QDragMoveEvent *event)
{
    const std::optional<ListId> list = m_model->listAt(indexAt(event->position().toPoint()));
    if (list && list != m_hovered) {
        m_hovered = list;
        viewport()->update();
        Q_EMIT targetHovered(payloadOf(*event->mimeData()), *list);
    }
    if (list && m_takes[static_cast<std::size_t>(*list)]) {
        event->setDropAction(Qt::MoveAction);
        event->accept();
    } else {
        event->ignore();
    }
    // Scrolls at the edges.
    if (hasAutoScroll()
        && viewport()
                ->rect()
                .adjusted(0, autoScrollMargin(), 0, -autoScrollMargin())
                .contains(event->position().toPoint())
            == false)
        startAutoScroll();
}

void OpListView::dragLeaveEvent(QDragLeaveEvent *)
{
    endDrag();
}

void OpListView::dropEvent(QDropEvent *event)
{
    const std::optional<ListId> list = m_model->listAt(indexAt(event->position().toPoint()));
    endDrag();
    if (!list) {
        event->ignore();
        return;
    }
    event->setDropAction(Qt::MoveAction);
    event->accept();
    m_model->dropMimeData(event->mimeData(), Qt::MoveAction, -1, -1, m_model->listIndex(*list));
}

void OpListView::endDrag()
{
    stopAutoScroll();
    setState(NoState);
    m_hovered.reset();
    m_model->markTargets(std::nullopt);
    viewport()->update();
    Q_EMIT dragEnded();
}

void OpListView::drawRow(QPainter *painter, const QStyleOptionViewItem &options,
                         const QModelIndex &index) const
{
    const QVariant takes = index.data(OpListModel::TakesDropRole);
    if (!takes.isValid()) {
        QTreeView::drawRow(painter, options, index);
        return;
    }
    const bool isHovered = m_model->listAt(index) == m_hovered;
    if (takes.toBool()) {
        QColor light = palette().color(QPalette::Highlight);
        light.setAlphaF(isHovered ? 0.35F : 0.12F);
        painter->fillRect(options.rect, light);
    } else {
        painter->setOpacity(0.45);
    }
    QTreeView::drawRow(painter, options, index);
    painter->setOpacity(1);
    if (takes.toBool()) {
        painter->fillRect(QRect(options.rect.left(), options.rect.top(), 3, options.rect.height()),
                          palette().color(QPalette::Highlight));
    }
}

/// Entries have no branches, so the indentation stays plain.
void OpListView::drawBranches(QPainter *painter, const QRect &rect, const QModelIndex &index) const
{
    if (!index.parent().isValid())
        QTreeView::drawBranches(painter, rect, index);
}

} // namespace halftone::widgets
