#pragma once

#include "widgets/common/short_names.h"

#include <QPersistentModelIndex>
#include <QStyledItemDelegate>

#include <utility>

namespace halftone::widgets {

/// Dims stale figures, marks broken rules, and sets off what the policy says of a tensor itself.
class TensorDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    /// What the column of names is shortened by.
    void setNames(ShortNames names) { m_names = std::move(names); }

    /// Of the row under the mouse, here or where the node is drawn; invalid: none.
    void setHovered(const QModelIndex &index) { m_hovered = index; }

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    ShortNames m_names;
    QPersistentModelIndex m_hovered;
};

} // namespace halftone::widgets
