#include "widgets/common/selection.h"

#include <algorithm>

namespace halftone::widgets {

bool Selection::contains(graph::NodeId node) const
{
    return std::ranges::binary_search(m_nodes, node);
}

void Selection::set(std::vector<graph::NodeId> nodes, std::optional<graph::NodeId> current)
{
    std::ranges::sort(nodes);
    const auto twice = std::ranges::unique(nodes);
    nodes.erase(twice.begin(), twice.end());
    if (nodes == m_nodes && current == m_current)
        return;
    m_nodes = std::move(nodes);
    m_current = current;
    Q_EMIT changed();
}

void Selection::toggle(graph::NodeId node)
{
    std::vector<graph::NodeId> nodes = m_nodes;
    const auto place = std::ranges::lower_bound(nodes, node);
    if (place != nodes.end() && *place == node) {
        nodes.erase(place);
        const std::optional<graph::NodeId> last = nodes.empty() ? std::nullopt : std::optional(nodes.back());
        set(std::move(nodes), m_current == node ? last : m_current);
    } else {
        nodes.insert(place, node);
        set(std::move(nodes), node);
    }
}

} // namespace halftone::widgets
