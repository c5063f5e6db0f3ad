#pragma once

#include "widgets/graphview/scene.h"

#include <span>
#include <vector>

namespace halftone::widgets {

/// What stands out: the chosen items, and all that lies on a path through one of them. Empty lists: nothing is chosen.
struct Emphasis
{
    std::vector<char> selected; ///< by item
    std::vector<char> onPath; ///< by item: leads to a chosen one or comes from one
    std::vector<char> edgeOnPath; ///< by edge
    std::vector<char> found; ///< by item: what the find panel found; empty: nothing is looked for

    bool isSelected(ItemIndex item) const { return !selected.empty() && selected[item] != 0; }
    bool isFound(ItemIndex item) const { return !found.empty() && found[item] != 0; }
    bool isFaded(ItemIndex item) const { return !onPath.empty() && onPath[item] == 0; }
    bool isEdgeFaded(std::uint32_t edge) const { return !edgeOnPath.empty() && edgeOnPath[edge] == 0; }
    bool isEdgeOnPath(std::uint32_t edge) const { return !edgeOnPath.empty() && edgeOnPath[edge] != 0; }
};

/// nodes  chosen, sorted or not
Emphasis emphasisOf(const Scene &scene, std::span<const graph::NodeId> nodes);

} // namespace halftone::widgets
