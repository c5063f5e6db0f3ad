#pragma once

#include <QStyledItemDelegate>

namespace halftone::widgets {

/// Dims stale figures, marks overflows, and puts a swatch before precisions.
class LayerDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;
};

} // namespace halftone::widgets
