#pragma once

#include "widgets/models/layer_query.h"

#include <QSortFilterProxyModel>

namespace halftone::widgets {

/// Layers that a query asks for, sorted by any column: numbers as numbers, layers without a figure last in both
/// directions, NaN as the worst.
class LayerFilterProxy : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    /// The source model must be a LayerTableModel.
    explicit LayerFilterProxy(QObject *parent = nullptr);

    void setQuery(const LayerQuery &query);
    const LayerQuery &query() const { return m_query; }

protected:
    bool filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

private:
    LayerQuery m_query;
};

} // namespace halftone::widgets
