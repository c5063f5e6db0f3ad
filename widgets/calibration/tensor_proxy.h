#pragma once

#include <QSortFilterProxyModel>

namespace halftone::widgets {

/// Tensors that hold a text in some column, sorted by any column: numbers as numbers, tensors without a figure last in both
/// directions, equal ones in the network's order.
class TensorProxy : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    explicit TensorProxy(QObject *parent = nullptr);

protected:
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;
};

} // namespace halftone::widgets
