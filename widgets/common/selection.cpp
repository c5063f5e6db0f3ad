#include "widgets/common/selection.h"

#include <algorithm>

namespace halftone::widgets {

bool Selection::contains(graph::NodeId node) const
{
    return std::ranges::binary_search(m_nodes, node);
}

void Selection::hover(std::optional<graph::NodeId> node)
{
    if (node == m_hovered)
        return;
    m_hovered = node;
    Q_EMIT hoveredChanged();
}

void Selection::set(std::vector<graph::NodeId> nodes, std::optional<graph::NodeId> current)
{
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    if (nodes == m_nodes && current == m_current)
        return;
    m_nodes = std::move(nodes);
    m_current = current;
    Q_EMIT changed();
}

} // namespace halftone::widgets
