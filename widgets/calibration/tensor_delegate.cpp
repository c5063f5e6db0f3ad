#include "widgets/calibration/tensor_delegate.h"

#include "widgets/calibration/tensor_table_model.h"
#include "widgets/common/precision_palette.h"

namespace halftone::widgets {

TensorDelegate::TensorDelegate(QObject *parent)
    : NameDelegate(TensorTableModel::Name, parent)
{
}

void TensorDelegate::initStyleOption(QStyleOptionViewItem *option, const QModelIndex &index) const
{
    NameDelegate::initStyleOption(option, index);
    if (index.column() != TensorTableModel::Name)
        option->textElideMode = Qt::ElideRight;
    if (m_hovered.isValid() && index.row() == m_hovered.row())
        option->backgroundBrush = hoverColour(option->palette);
    if (index.data(TensorTableModel::OwnRole).toBool())
        option->font.setBold(true);
    if (index.data(TensorTableModel::WarningRole).toBool()) {
        option->text = QStringLiteral("\u26a0 ") + option->text;
        option->palette.setColor(QPalette::Text, warningColour(option->palette));
    }
    if (index.data(TensorTableModel::StaleRole).toBool())
        option->palette.setColor(QPalette::Text, option->palette.color(QPalette::PlaceholderText));
}

} // namespace halftone::widgets
