#pragma once

#include "core/session/query.h"
#include "widgets/models/layer_table_model.h"

#include <QSortFilterProxyModel>

#include <string>
#include <vector>

namespace halftone::widgets {

/// Layers that a query asks for, sorted by any column: numbers as numbers, layers without a figure last in both
/// directions, NaN as the worst. Constants are left out unless they are asked for.
class LayerFilterProxy : public QSortFilterProxyModel
{
    Q_OBJECT

public:
    /// The source model must be a LayerTableModel.
    explicit LayerFilterProxy(QObject *parent = nullptr);

    /// Needs: a query over session::nodeFields(). An empty one hides nothing.
    void setQuery(session::Query query);
    void setConstantsShown(bool areShown);
    bool areConstantsShown() const { return m_showsConstants; }
    /// What was asked for and no node has, as session::findNodes() says it.
    const std::vector<std::string> &notes() const;
    int hiddenConstants() const; ///< that the query asks for

protected:
    bool filterAcceptsRow(int sourceRow, const QModelIndex &sourceParent) const override;
    bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

private:
    void find() const;

    session::Query m_query;
    bool m_showsConstants = false;
    mutable std::vector<bool> m_isFound; ///< by node, of the state of the source model that `m_version` names
    mutable std::vector<std::string> m_notes;
    mutable std::uint64_t m_version = 0;
};

} // namespace halftone::widgets
