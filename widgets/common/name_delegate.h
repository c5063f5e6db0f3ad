#pragma once

#include "widgets/common/short_names.h"

#include <QStyledItemDelegate>

#include <utility>

namespace halftone::widgets {

/// Draws a column of names as there is room for them (ShortNames); all else as Qt does, or who derives from it.
class NameDelegate : public QStyledItemDelegate
{
public:
    NameDelegate(int column, QObject *parent)
        : QStyledItemDelegate(parent)
        , m_column(column)
    {
    }

    /// What the column of names is shortened by.
    void setNames(ShortNames names) { m_names = std::move(names); }

protected:
    void initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const override;

private:
    int m_column;
    ShortNames m_names;
};

} // namespace halftone::widgets
