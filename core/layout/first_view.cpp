#include "core/layout/first_view.h"

namespace halftone::layout {
namespace {

constexpr Size kNode{168, 44};
constexpr Size kFolded{200, 64};
constexpr Size kSmall{140, 28};

} // namespace

Result<FirstView> firstView(const graph::Model &model, bool isFolded, Detail detail, const Progress &progress)
{
    FirstView view{shownTree(model, detail, isFolded), {}};
    ItemSizes sizes;
    sizes.nodes.assign(model.graph.nodeCount(), kNode);
    sizes.foldedBlocks.assign(view.tree.blocks.size(), kFolded);
    for (BlockId id = 0; id < view.tree.blocks.size(); ++id)
        if (isShapeChain(view.tree.blocks[id]))
            sizes.foldedBlocks[id] = kSmall;
    PieceCache cache;
    HALFTONE_TRY(
        view.picture,
        layoutGraph(model.graph, view.tree, openWithin(view.tree, kFirstView), sizes, {}, cache, progress));
    return view;
}

} // namespace halftone::layout
