#include "widgets/tables/layer_delegate.h"

#include "widgets/common/precision_palette.h"
#include "widgets/models/layer_table_model.h"
#include "widgets/models/precision_swatch.h"

#include <QApplication>
#include <QPainter>

namespace halftone::widgets {

LayerDelegate::LayerDelegate(QObject *parent)
    : NameDelegate(LayerTableModel::Name, parent)
{
}

/// With room on both sides, so that a number does not touch the text of the next column.
void LayerDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                          const QModelIndex &index) const
{
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    const QStyle *const style = option.widget ? option.widget->style() : QApplication::style();
    style->drawPrimitive(QStyle::PE_PanelItemViewItem, &cell, painter, option.widget);
    const int room = option.fontMetrics.averageCharWidth() / 2;
    QStyleOptionViewItem inner = option;
    inner.rect.adjust(room, 0, -room, 0);
    QStyledItemDelegate::paint(painter, inner, index);
}

void LayerDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    NameDelegate::initStyleOption(option, index);
    if (m_hovered.isValid() && index.row() == m_hovered.row())
        option->backgroundBrush = hoverColour(option->palette);
    const QVariant precision = index.data(LayerTableModel::PrecisionRole);
    if (precision.isValid() && !option->text.isEmpty()) {
        const int side = option->fontMetrics.ascent();
        option->features |= QStyleOptionViewItem::HasDecoration;
        option->decorationSize = QSize(side, side);
        option->icon = precisionSwatch(static_cast<tensor::DType>(precision.toInt()), option->palette, side);
    }
    if (index.data(LayerTableModel::WarningRole).toBool()) {
        option->font.setBold(true);
        option->text = QStringLiteral("\u26a0 ") + option->text;
        option->palette.setColor(QPalette::Text, warningColour(option->palette));
    }
    if (index.data(LayerTableModel::StaleRole).toBool() || index.column() == LayerTableModel::Operator)
        option->palette.setColor(QPalette::Text, option->palette.color(QPalette::PlaceholderText));
}

} // namespace halftone::widgets
