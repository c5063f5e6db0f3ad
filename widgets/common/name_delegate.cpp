#include "widgets/common/name_delegate.h"

#include <QApplication>

namespace halftone::widgets {

void NameDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.column() != m_column)
        return;
    const QStyle *const style = option->widget ? option->widget->style() : QApplication::style();
    const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, option, option->widget) + 1;
    option->text = m_names.fitted(option->text, option->rect.width() - 2 * margin, option->fontMetrics);
}

} // namespace halftone::widgets
