#pragma once

#include "widgets/common/short_names.h"

#include <QStyledItemDelegate>

#include <utility>

namespace halftone::widgets {

/// Dims stale figures, marks overflows, and puts a swatch before precisions.
class LayerDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    /// What the column of names is shortened by.
    void setNames(ShortNames names) { m_names = std::move(names); }

    /// Any cell of the row that is under the mouse, here or in another panel.
    void setHovered(const QModelIndex &index) { m_hovered = index; }

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    ShortNames m_names;
    QPersistentModelIndex m_hovered;
};

} // namespace halftone::widgets
