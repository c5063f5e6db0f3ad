#include "core/layout/first_view.h"

#include "core/layout/drawn_nodes.h"

namespace halftone::layout {
namespace {

constexpr Size kNode{168, 44};
constexpr Size kFolded{200, 64};

} // namespace

Result<FirstView> firstView(const graph::Model &model, bool isFolded, const Progress &progress)
{
    const std::vector<char> drawn = drawnNodes(model);
    FirstView view{isFolded ? foldModel(model, drawn) : flatTree(model.graph, drawn), {}};
    ItemSizes sizes;
    sizes.nodes.assign(model.graph.nodeCount(), kNode);
    sizes.foldedBlocks.assign(view.tree.blocks.size(), kFolded);
    PieceCache cache;
    HALFTONE_TRY(
        view.picture,
        layoutGraph(model.graph, view.tree, openWithin(view.tree, kFirstView), sizes, {}, cache, progress));
    return view;
}

} // namespace halftone::layout
