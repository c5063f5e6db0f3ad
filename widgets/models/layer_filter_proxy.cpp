#include "widgets/models/layer_filter_proxy.h"

#include "core/session/node_query.h"

#include <cmath>
#include <utility>

namespace halftone::widgets {

LayerFilterProxy::LayerFilterProxy(QObject *parent)
    : QSortFilterProxyModel(parent)
{
    setSortRole(LayerTableModel::SortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void LayerFilterProxy::setQuery(session::Query query)
{
    m_query = std::move(query);
    m_version = 0;
    invalidateFilter();
}

void LayerFilterProxy::setConstantsShown(bool areShown)
{
    m_showsConstants = areShown;
    invalidateFilter();
}

/// Asks all nodes at once, where the last answer is of another state.
void LayerFilterProxy::find() const
{
    const auto *const model = qobject_cast<const LayerTableModel *>(sourceModel());
    if (!model || model->version() == m_version)
        return;
    m_version = model->version();
    m_isFound.clear();
    m_notes.clear();
    if (!model->snapshot() || m_query.isEmpty())
        return;
    session::FoundNodes found = session::findNodes(m_query, *model->snapshot(), model->figures());
    m_isFound.resize(model->snapshot()->graph().nodeCount());
    for (const graph::NodeId node : found.nodes)
        m_isFound[node] = true;
    m_notes = std::move(found.notes);
}

const std::vector<std::string> &LayerFilterProxy::notes() const
{
    find();
    return m_notes;
}

int LayerFilterProxy::hiddenConstants() const
{
    const auto *const model = qobject_cast<const LayerTableModel *>(sourceModel());
    if (!model || m_showsConstants)
        return 0;
    if (m_query.isEmpty())
        return model->constantCount();
    find();
    int hidden = 0;
    for (graph::NodeId node = 0; node < m_isFound.size(); ++node)
        hidden += m_isFound[node] && model->isConstant(node) ? 1 : 0;
    return hidden;
}

bool LayerFilterProxy::filterAcceptsRow(int sourceRow, const QModelIndex &) const
{
    const auto *const model = qobject_cast<const LayerTableModel *>(sourceModel());
    if (!model)
        return true;
    const graph::NodeId node = model->nodeAt(sourceRow);
    if (!m_showsConstants && model->isConstant(node))
        return false;
    if (m_query.isEmpty())
        return true;
    find();
    return m_isFound[node];
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
