#include "widgets/calibration/tensor_proxy.h"

#include "widgets/calibration/tensor_table_model.h"

namespace halftone::widgets {

TensorProxy::TensorProxy(QObject *parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(TensorTableModel::SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
    setFilterCaseSensitivity(Qt::CaseInsensitive);
    setFilterKeyColumn(-1);
}

bool TensorProxy::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    const QVariant a = left.data(TensorTableModel::SortRole);
    const QVariant b = right.data(TensorTableModel::SortRole);
    const bool isUp = sortOrder() == Qt::AscendingOrder;
    if (!a.isValid() || !b.isValid())
        return a.isValid() == isUp && a.isValid() != b.isValid();
    if (a == b)
        return isUp ? left.row() < right.row() : left.row() > right.row();
    return QSortFilterProxyModel::lessThan(left, right);
}

} // namespace halftone::widgets
