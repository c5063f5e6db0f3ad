#include "widgets/graphview/scene_selector.h"

#include "widgets/graphview/walk.h"

#include <algorithm>

namespace halftone::widgets {
namespace {

/// The first or last item that is no frame; there is one.
ItemIndex endOf(const Scene &scene, bool last)
{
    const auto &items = scene.items();
    const auto isReal = [](const SceneItem &one) { return !one.isFrame; };
    if (last)
        return static_cast<ItemIndex>(std::ranges::find_if(items.rbegin(), items.rend(), isReal).base()
                                      - items.begin() - 1);
    return static_cast<ItemIndex>(std::ranges::find_if(items, isReal) - items.begin());
}

Direction directionOf(int key)
{
    switch (key) {
    case Qt::Key_Up:
        return Direction::Up;
    case Qt::Key_Down:
        return Direction::Down;
    case Qt::Key_Left:
        return Direction::Left;
    default:
        return Direction::Right;
    }
}

} // namespace

void SceneSelector::click(const Scene &scene, ItemIndex item, Qt::KeyboardModifiers modifiers)
{
    const auto nodes = scene.nodesOf(item);
    if ((modifiers & (Qt::ControlModifier | Qt::ShiftModifier)) == 0) {
        m_selection.set({nodes.begin(), nodes.end()}, nodes.front());
        return;
    }
    std::vector<graph::NodeId> selected = m_selection.nodes();
    const bool removes = (modifiers & Qt::ControlModifier) != 0
        && std::ranges::all_of(nodes, [&](graph::NodeId node) { return m_selection.contains(node); });
    if (removes)
        std::erase_if(selected,
                      [&](graph::NodeId node) { return std::ranges::find(nodes, node) != nodes.end(); });
    else
        selected.insert(selected.end(), nodes.begin(), nodes.end());
    std::optional<graph::NodeId> current = nodes.front();
    if (removes)
        current = selected.empty() ? std::nullopt : std::optional(selected.back());
    m_selection.set(std::move(selected), current);
}

void SceneSelector::selectArea(const Scene &scene, const QRectF &area, bool adds)
{
    std::vector<ItemIndex> items;
    scene.itemsIn(area, items);
    std::vector<graph::NodeId> nodes = adds ? m_selection.nodes() : std::vector<graph::NodeId>();
    for (const ItemIndex item : items) {
        if (!scene.items()[item].isFrame) {
            const auto own = scene.nodesOf(item);
            nodes.insert(nodes.end(), own.begin(), own.end());
        }
    }
    const auto current = nodes.empty() ? std::nullopt : std::optional(nodes.back());
    m_selection.set(std::move(nodes), current);
}

ItemIndex SceneSelector::walk(const Scene &scene, int key, bool extends)
{
    ItemIndex item = current(scene);
    if (item == kNoItem || key == Qt::Key_Home || key == Qt::Key_End)
        item = endOf(scene, key == Qt::Key_End);
    else
        item = neighbourOf(scene, item, directionOf(key));
    click(scene, item, extends ? Qt::ShiftModifier : Qt::NoModifier);
    return item;
}

ItemIndex SceneSelector::current(const Scene &scene) const
{
    const auto current = m_selection.current();
    return current && *current < scene.graph().nodeCount() ? scene.itemOf(*current) : kNoItem;
}

std::vector<graph::NodeId> SceneSelector::operators(const graph::Graph &graph) const
{
    std::vector<graph::NodeId> nodes = m_selection.nodes();
    std::erase_if(nodes, [&graph](graph::NodeId node) { return graph.isVariable(node); });
    return nodes;
}

} // namespace halftone::widgets
