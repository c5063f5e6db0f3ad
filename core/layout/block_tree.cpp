#include "core/layout/block_tree.h"

#include <algorithm>
#include <numeric>

namespace halftone::layout {

using graph::NodeId;

namespace {

/// A detail, which one operator could compute.
bool isDetail(const Block &block)
{
    return block.unit && !patterns::isComposite(*block.unit);
}

} // namespace

BlockTree flatTree(const graph::Graph &graph, const std::vector<char> &drawn)
{
    BlockTree tree;
    tree.blocks.resize(1);
    tree.blockOf.assign(graph.nodeCount(), kNoBlock);
    tree.boxOf = boxesOf(graph, drawn);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (drawn[id] != 0) {
            tree.blockOf[id] = kRoot;
            tree.blocks[kRoot].children.push_back({false, id});
            tree.blocks[kRoot].operators += graph.isVariable(id) ? 0 : 1;
        }
    }
    return tree;
}

std::vector<NodeId> boxesOf(const graph::Graph &graph, const std::vector<char> &drawn)
{
    std::vector<NodeId> boxOf(graph.nodeCount());
    std::iota(boxOf.begin(), boxOf.end(), NodeId{0});
    for (NodeId id = static_cast<NodeId>(graph.nodeCount()); id-- > 0;) // readers come behind what they read
        for (const graph::Entry &input : graph.inputs(id))
            if (drawn[input.node] == 0)
                boxOf[input.node] = boxOf[id];
    return boxOf;
}

bool isShapeChain(const Block &block)
{
    return block.unit == patterns::UnitKind::ShapeArithmetic;
}

std::vector<char> allOpen(const BlockTree &tree)
{
    return std::vector<char>(tree.blocks.size(), 1);
}

std::vector<char> openWithin(const BlockTree &tree, std::size_t budget)
{
    std::vector<char> open(tree.blocks.size(), 0);
    open[kRoot] = 1;
    std::vector<BlockId> level{kRoot};
    std::size_t seen = tree.blocks[kRoot].children.size();
    while (!level.empty()) {
        std::vector<BlockId> next;
        for (const BlockId block : level)
            for (const ItemRef &child : tree.blocks[block].children)
                if (child.isBlock && !isDetail(tree.blocks[child.id]))
                    next.push_back(child.id);
        std::size_t more = 0;
        for (const BlockId block : next)
            more += tree.blocks[block].children.size() - 1;
        if (seen + more > budget)
            break;
        seen += more;
        for (const BlockId block : next)
            open[block] = 1;
        level = std::move(next);
    }
    for (BlockId at = kRoot; at != kNoBlock;) { // down the blocks that hold most
        const auto &children = tree.blocks[at].children;
        const auto most = std::ranges::find_if(children, [&](const ItemRef &child) {
            return child.isBlock && 2 * tree.blocks[child.id].operators > tree.blocks[kRoot].operators;
        });
        at = most == children.end() ? kNoBlock : most->id;
        if (at == kNoBlock || open[at] != 0)
            continue;
        seen += tree.blocks[at].children.size() - 1;
        if (seen > 3 * budget)
            break;
        open[at] = 1;
    }
    return open;
}

std::vector<ItemRef> visibleItems(const BlockTree &tree, const std::vector<char> &open)
{
    std::vector<ItemRef> items;
    std::vector<ItemRef> stack{{true, kRoot}};
    while (!stack.empty()) {
        const ItemRef item = stack.back();
        stack.pop_back();
        if (!item.isBlock || (open[item.id] == 0 && item.id != kRoot)) {
            items.push_back(item);
            continue;
        }
        const auto &children = tree.blocks[item.id].children;
        stack.insert(stack.end(), children.rbegin(), children.rend());
    }
    return items;
}

std::vector<ItemRef> standIns(const BlockTree &tree, const std::vector<char> &open)
{
    std::vector<BlockId> folded(tree.blocks.size(),
                                kNoBlock); // the outermost folded one around, itself counted
    for (BlockId block = 1; block < tree.blocks.size(); ++block) {
        const BlockId above = folded[tree.blocks[block].parent];
        folded[block] = above != kNoBlock ? above : open[block] != 0 ? kNoBlock : block;
    }
    std::vector<ItemRef> items(tree.blockOf.size());
    for (NodeId id = 0; id < items.size(); ++id) {
        const NodeId box = tree.boxOf[id];
        const BlockId block = tree.blockOf[box];
        if (block != kNoBlock && folded[block] != kNoBlock)
            items[id] = {true, folded[block]};
        else
            items[id] = {false, box};
    }
    return items;
}

std::vector<NodeId> nodesIn(const BlockTree &tree, BlockId block)
{
    std::vector<NodeId> nodes;
    std::vector<ItemRef> stack{{true, block}};
    while (!stack.empty()) {
        const ItemRef item = stack.back();
        stack.pop_back();
        if (!item.isBlock) {
            nodes.push_back(item.id);
            continue;
        }
        const auto &children = tree.blocks[item.id].children;
        stack.insert(stack.end(), children.rbegin(), children.rend());
    }
    return nodes;
}

} // namespace halftone::layout
