#include "widgets/graphview/emphasis.h"

#include <algorithm>

namespace halftone::widgets {
namespace {

/// Marks all that is reached from the marked items along or against the edges and ports.
void spread(const Scene &scene, const std::vector<char> &from, bool forward, Emphasis &emphasis)
{
    std::vector<char> reached = from;
    std::vector<ItemIndex> open;
    for (ItemIndex item = 0; item < from.size(); ++item) {
        if (from[item] != 0)
            open.push_back(item);
    }
    while (!open.empty()) {
        const ItemIndex item = open.back();
        open.pop_back();
        emphasis.onPath[item] = 1;
        for (const ItemIndex next : forward ? scene.portsOutOf(item) : scene.portsInto(item))
            if (reached[next] == 0) {
                reached[next] = 1;
                open.push_back(next);
            }
        for (const std::uint32_t edge : forward ? scene.edgesOutOf(item) : scene.edgesInto(item)) {
            emphasis.edgeOnPath[edge] = 1;
            const ItemIndex next = forward ? scene.edges()[edge].to : scene.edges()[edge].from;
            if (reached[next] == 0) {
                reached[next] = 1;
                open.push_back(next);
            }
        }
    }
}

/// A frame goes with what is in it.
void includeFrames(const Scene &scene, Emphasis &emphasis)
{
    for (ItemIndex item = 0; item < scene.items().size(); ++item) {
        if (scene.items()[item].isFrame)
            emphasis.onPath[item] = std::ranges::any_of(scene.nodesOf(item), [&](graph::NodeId node) {
                return emphasis.onPath[scene.itemOf(node)] != 0;
            });
    }
}

} // namespace

Emphasis emphasisOf(const Scene &scene, std::span<const graph::NodeId> nodes)
{
    Emphasis emphasis;
    if (nodes.empty())
        return emphasis;
    emphasis.selected.assign(scene.items().size(), 0);
    bool any = false;
    for (const graph::NodeId node : nodes) {
        const ItemIndex item = node < scene.graph().nodeCount() ? scene.itemOf(node) : kNoItem;
        if (item != kNoItem) {
            emphasis.selected[item] = 1;
            any = true;
        }
    }
    if (!any)
        return {};
    emphasis.onPath.assign(scene.items().size(), 0);
    emphasis.edgeOnPath.assign(scene.edges().size(), 0);
    spread(scene, emphasis.selected, true, emphasis);
    spread(scene, emphasis.selected, false, emphasis);
    includeFrames(scene, emphasis);
    return emphasis;
}

} // namespace halftone::widgets
