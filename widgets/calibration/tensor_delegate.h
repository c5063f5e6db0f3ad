#pragma once

#include <QStyledItemDelegate>

namespace halftone::widgets {

/// Dims stale figures, marks broken rules, and sets off what the policy says of a tensor itself.
class TensorDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;
};

} // namespace halftone::widgets
