#pragma once

#include "widgets/tune/group_table.h"

#include <QSortFilterProxyModel>

namespace halftone::widgets {

/// Rows of a GroupTable in the order that a person wants; on request only those that differ between the two selected points.
class DifferingGroups : public QSortFilterProxyModel
{
public:
    DifferingGroups(GroupTable *table, QObject *parent)
        : QSortFilterProxyModel(parent)
        , m_table(table)
    {
        setSourceModel(table);
        setSortRole(GroupTable::kSortRole);
    }

    void setOnlyDiffering(bool only)
    {
        m_isOnlyDiffering = only;
        invalidateFilter();
    }

protected:
    bool filterAcceptsRow(int row, const QModelIndex & /*parent*/) const override
    {
        return !m_isOnlyDiffering || m_table->differs(row);
    }

private:
    GroupTable *m_table;
    bool m_isOnlyDiffering = false;
};

} // namespace halftone::widgets
