#pragma once

#include "core/graph/model.h"
#include "core/patterns/unit.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::layout {

using BlockId = std::uint32_t;
inline constexpr BlockId kRoot = 0;
inline constexpr BlockId kNoBlock = std::numeric_limits<BlockId>::max();

/// A node, or a block of nodes.
struct ItemRef
{
    bool isBlock = false;
    std::uint32_t id = 0; ///< NodeId or BlockId

    auto operator<=>(const ItemRef &) const = default;
};

/// Nodes that are shown as one when folded.
struct Block
{
    /// What their names begin with ("stage1"), before what they are where that is known ("layers.17 · Attention"); else "first … last",
    /// with its number where parts repeat ("block 2 of 12: …").
    std::string name;
    BlockId parent = kNoBlock; ///< always below the block's own id
    std::uint32_t depth = 0; ///< of the root 0
    std::vector<ItemRef> children; ///< in topological order
    std::size_t operators = 0; ///< at any depth, without variables
    std::optional<patterns::UnitKind> unit{}; ///< what its nodes are, if they are a unit and no more
};

/// What is told of nodes without a box of their own, where they stand (shown_graph.h).
struct Asides
{
    /// By NodeId, empty where no pair is folded: of a node that stands on an edge the value that it takes; of others their own first.
    std::vector<graph::Entry> through;
    /// By the node that makes codes on an edge: "u8 · scale 0.02 · zero 128".
    std::unordered_map<graph::NodeId, std::string> badges;
    /// By a node with a box: "B = 0.125", of constants that it reads.
    std::unordered_map<graph::NodeId, std::string> insets;
    /// By a node whose value is read all along the graph, what each reader's port of it is called: no edges lead from it.
    std::unordered_map<graph::NodeId, std::string> ports;
    std::vector<char> isFaint; ///< by NodeId, empty for none: it computes integers of shapes alone

    bool isOnEdge(graph::NodeId id) const { return !through.empty() && through[id].node != id; }
    bool isFaintNode(graph::NodeId id) const { return !isFaint.empty() && isFaint[id] != 0; }
    /// The value that is drawn as read where an input is: the one that went into the pairs it comes from.
    graph::Entry sourceOf(graph::Entry input) const
    {
        while (isOnEdge(input.node))
            input = through[input.node];
        return input;
    }
    /// The pair nearest to the reader: the node that makes its codes.
    std::optional<graph::NodeId> pairOn(const graph::Entry &input) const
    {
        for (graph::NodeId id = input.node; isOnEdge(id); id = through[id].node)
            if (badges.contains(id))
                return id;
        return std::nullopt;
    }
};

/// How the drawn nodes of a graph are folded. Every block is an interval of one topological order, so that no path
/// leaves it and comes back, and blocks of one level can always be drawn without a cycle.
struct BlockTree
{
    std::vector<Block> blocks; ///< a parent before its children; the first one is the root
    std::vector<BlockId> blockOf; ///< by NodeId: the innermost; kNoBlock for a node that is not drawn
    /// By NodeId, for a node that is not drawn: the one whose box stands for it (the reader of a parameter). A drawn node
    /// stands for itself.
    std::vector<graph::NodeId> boxOf;
    Asides asides;
    /// Characters that the names of all operators begin with, in whole parts, and that no block's name has: not the word before a
    /// number ("layers.").
    std::size_t commonPrefix = 0;
};

/// Folds by names first (a run of nodes whose names share their beginning up to "_", "/" or "."), then by structure:
/// parts that come over and over (repeats.h), what lies between two nodes that every path goes through, long chains in
/// lengths, and neighbouring blocks together until no level has many.
///
/// drawn  by NodeId, see drawnNodes()
/// units  of the graph (patterns/unit.h): each is a block, however its nodes are called
BlockTree foldGraph(const graph::Graph &graph, const std::vector<char> &drawn,
                    std::span<const patterns::Unit> units = {});
/// With the units that are found in the model.
BlockTree foldModel(const graph::Model &model, const std::vector<char> &drawn);
/// BlockTree::boxOf: of a node that is not drawn the first reader's; its own where nothing reads it.
std::vector<graph::NodeId> boxesOf(const graph::Graph &graph, const std::vector<char> &drawn);
/// The tree without blocks.
BlockTree flatTree(const graph::Graph &graph, const std::vector<char> &drawn);

/// Does it compute integers of shapes alone? Such blocks are drawn small.
bool isShapeChain(const Block &block);

/// Which blocks are open, by BlockId: level by level from the top while no more than `budget` items are to be seen; what one
/// operator could compute (a LayerNorm, a GELU) stays closed. Beyond that
/// a block that stands for most of the network is opened too, so that there is something to see, up to three times as many.
std::vector<char> openWithin(const BlockTree &tree, std::size_t budget);
std::vector<char> allOpen(const BlockTree &tree);
/// The items that are to be seen: nodes and folded blocks with all their parents open. In topological order.
std::vector<ItemRef> visibleItems(const BlockTree &tree, const std::vector<char> &open);
/// By NodeId: the item that stands for the node, which is the node, or the outermost folded block around it.
std::vector<ItemRef> standIns(const BlockTree &tree, const std::vector<char> &open);
/// The drawn nodes in a block, at any depth, in topological order.
std::vector<graph::NodeId> nodesIn(const BlockTree &tree, BlockId block);

} // namespace halftone::layout
