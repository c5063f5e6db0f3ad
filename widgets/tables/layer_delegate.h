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

    void paint(QPainter *painter, const QStyleOptionViewItem &option,
               const QModelIndex &index) const override;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    ShortNames m_names;
};

} // namespace halftone::widgets
