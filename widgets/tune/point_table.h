#pragma once

#include "widgets/models/tune_state.h"

#include <QAbstractTableModel>

namespace halftone::widgets {

/// The two selected points of a plane side by side: what each was measured to take and to lose.
class PointTable : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Row
    {
        Found,
        Time,
        Interval,
        Ratio,
        Estimate,
        Sqnr,
        Top1,
        Wide,
        Casts,
        RowCount
    };

    PointTable(const TuneState *state, QObject *parent);

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString textOf(std::size_t place, int row) const;

    const TuneState *m_state;
};

} // namespace halftone::widgets
