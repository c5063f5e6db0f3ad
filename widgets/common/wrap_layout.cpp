#include "widgets/common/wrap_layout.h"

#include <QWidget>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr int kLeastText = 20; ///< characters that a text gets before it goes to a row of its own

bool ignoresItsHint(const QLayoutItem &item)
{
    const QWidget *const widget = const_cast<QLayoutItem &>(item).widget();
    return widget && widget->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored;
}

bool takesSpareRoom(const QLayoutItem &item)
{
    return item.expandingDirections().testFlag(Qt::Horizontal) || ignoresItsHint(item);
}

int heightOf(const QLayoutItem &item, int width)
{
    return item.hasHeightForWidth() ? item.heightForWidth(width) : item.sizeHint().height();
}

} // namespace

WrapLayout::WrapLayout(QWidget *parent)
    : QLayout(parent)
{
}

WrapLayout::~WrapLayout()
{
    qDeleteAll(m_items);
}

void WrapLayout::addItem(QLayoutItem *item)
{
    m_items.append(item);
    invalidate();
}

QLayoutItem *WrapLayout::takeAt(int index)
{
    if (index < 0 || index >= count())
        return nullptr;
    QLayoutItem *const item = m_items.takeAt(index);
    invalidate();
    return item;
}

int WrapLayout::wishedWidth(const QLayoutItem &item) const
{
    if (!ignoresItsHint(item) || !parentWidget())
        return std::max(item.sizeHint().width(), item.minimumSize().width());
    const int wish = item.widget()->sizeHint().width(); // the item's own is 0
    const int text = kLeastText * parentWidget()->fontMetrics().averageCharWidth();
    return std::max(std::min(wish, text), item.minimumSize().width());
}

/// Gives away what is left of a row, and puts its items at half its height.
void WrapLayout::finishRow(QList<Placed> &placed, qsizetype first, const QRect &room)
{
    qsizetype takers = 0;
    for (qsizetype k = first; k < placed.size(); ++k)
        takers += takesSpareRoom(*placed[k].item) ? 1 : 0;
    int spare = std::max(0, room.right() - placed.back().rect.right());
    int moved = 0;
    int height = 0;
    for (qsizetype k = first; k < placed.size(); ++k) {
        QRect &rect = placed[k].rect;
        rect.translate(moved, 0);
        if (takesSpareRoom(*placed[k].item)) {
            const int share = spare / static_cast<int>(takers--);
            rect.setWidth(rect.width() + share);
            spare -= share;
            moved += share;
        }
        rect.setHeight(heightOf(*placed[k].item, rect.width()));
        height = std::max(height, rect.height());
    }
    for (qsizetype k = first; k < placed.size(); ++k)
        placed[k].rect.translate(0, (height - placed[k].rect.height()) / 2);
}

QList<WrapLayout::Placed> WrapLayout::arranged(const QRect &room) const
{
    const int gap = std::max(0, spacing());
    QList<Placed> placed;
    qsizetype first = 0;
    QPoint at = room.topLeft();
    for (QLayoutItem *const item : m_items) {
        if (item->isEmpty())
            continue;
        const int width = std::min(wishedWidth(*item), std::max(room.width(), item->minimumSize().width()));
        if (placed.size() > first && at.x() + width > room.right() + 1) {
            finishRow(placed, first, room);
            int bottom = at.y();
            for (; first < placed.size(); ++first)
                bottom = std::max(bottom, placed[first].rect.bottom() + 1);
            at = {room.left(), bottom + gap};
        }
        placed.append({item, QRect(at, QSize(width, 1))});
        at.rx() += width + gap;
    }
    if (placed.size() > first)
        finishRow(placed, first, room);
    return placed;
}

int WrapLayout::heightForWidth(int width) const
{
    const QMargins margins = contentsMargins();
    int height = 0;
    for (const Placed &one : arranged(QRect(0, 0, width - margins.left() - margins.right(), 1)))
        height = std::max(height, one.rect.bottom() + 1);
    return height + margins.top() + margins.bottom();
}

QSize WrapLayout::minimumSize() const
{
    QSize size;
    for (const QLayoutItem *const item : m_items) {
        if (item->isEmpty())
            continue;
        const bool mayShrink = ignoresItsHint(*item);
        size = size.expandedTo({mayShrink ? 0 : item->minimumSize().width(), item->minimumSize().height()});
    }
    const QMargins margins = contentsMargins();
    return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

QSize WrapLayout::sizeHint() const
{
    QSize size;
    for (const QLayoutItem *const item : m_items) {
        if (item->isEmpty())
            continue;
        const int gap = size.isEmpty() ? 0 : std::max(0, spacing());
        size = {size.width() + gap + wishedWidth(*item), std::max(size.height(), item->sizeHint().height())};
    }
    const QMargins margins = contentsMargins();
    return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

void WrapLayout::setGeometry(const QRect &rect)
{
    QLayout::setGeometry(rect);
    for (const Placed &one : arranged(contentsRect()))
        one.item->setGeometry(one.rect);
}

} // namespace halftone::widgets
