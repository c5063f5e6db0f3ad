#include "widgets/models/layer_filter_proxy.h"

#include <cmath>

namespace halftone::widgets {

LayerFilterProxy::LayerFilterProxy(QObject *parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(LayerTableModel::SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void LayerFilterProxy::setQuery(const LayerQuery &query)
{
    m_query = query;
    invalidateFilter();
}

bool LayerFilterProxy::filterAcceptsRow(int sourceRow, const QModelIndex &) const
{
    const auto *const model = qobject_cast<const LayerTableModel *>(sourceModel());
    return !model || m_query.matches(*model, sourceRow);
}

bool LayerFilterProxy::lessThan(const QModelIndex &left, const QModelIndex &right) const
{
    if (!LayerTableModel::isNumber(left.column()))
        return QSortFilterProxyModel::lessThan(left, right);
    const QVariant a = left.data(LayerTableModel::SortRole);
    const QVariant b = right.data(LayerTableModel::SortRole);
    const bool isUp = sortOrder() == Qt::AscendingOrder;
    if (!a.isValid() || !b.isValid())
        return a.isValid() == isUp && a.isValid() != b.isValid();
    const double x = a.toDouble();
    const double y = b.toDouble();
    if (std::isnan(x) || std::isnan(y)) {
        // A failed layer counts as the lowest signal, and as the largest of all other figures.
        const bool isSqnr = left.column() == LayerTableModel::Sqnr
            || left.column() == LayerTableModel::IsolatedSqnr
            || left.column() == LayerTableModel::BaselineSqnr;
        return isSqnr ? std::isnan(x) && !std::isnan(y) : std::isnan(y) && !std::isnan(x);
    }
    return x < y;
}

} // namespace halftone::widgets
