#pragma once

#include "widgets/common/short_names.h"

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

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    ShortNames m_names;
};

} // namespace halftone::widgets
