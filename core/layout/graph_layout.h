#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/layout/block_tree.h"
#include "core/layout/geometry.h"
#include "core/layout/stack_layout.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone::layout {

/// One input of one node that reads another node's output.
struct Wire
{
    graph::Entry from;
    graph::NodeId reader = 0;
    std::uint32_t input = 0;

    bool operator==(const Wire &) const = default;
};

struct PlacedItem
{
    ItemRef item;
    Rect rect;
    bool isFrame = false; ///< an open block: what is in it lies within
    std::uint32_t depth = 0; ///< so many frames around it
};

/// All that goes from one item to another is one line.
struct PlacedEdge
{
    std::uint32_t from = 0; ///< index into Picture::items
    std::uint32_t to = 0;
    Polyline line; ///< from the lower border of the one to the upper border of the other
    std::vector<Wire> wires;
    std::optional<graph::NodeId>
        pair{}; ///< that the first wire goes through: the node that makes codes, see Asides
};

/// A value that one of the items reads without an edge: Asides::ports.
struct PlacedPort
{
    std::uint32_t from = 0; ///< index into Picture::items: where it comes from
    std::uint32_t to = 0; ///< and its reader
    graph::NodeId source = 0;

    auto operator<=>(const PlacedPort &) const = default;
};

/// Where everything goes. The whole begins at (0, 0).
struct Picture
{
    Size size;
    std::vector<PlacedItem> items; ///< in topological order, a frame before what is in it
    std::vector<PlacedEdge> edges;
    std::vector<PlacedPort> ports{}; ///< ascending, each once
    std::size_t pieces = 0; ///< as StackOutcome
    std::size_t plainPieces = 0;
    std::string note;
};

/// How large the caller draws things.
struct ItemSizes
{
    std::vector<Size> nodes; ///< by NodeId
    std::vector<Size> foldedBlocks; ///< by BlockId
    double frameHeader = 24; ///< room above what is in a frame
    double framePadding = 12; ///< room around it
};

/// Lays out what is to be seen. Every open block is laid out for itself and stands in the level above as one box, so that
/// opening one changes nothing but its surroundings. The same input gives the same picture.
///
/// needs  trees of the same graph; `open` by BlockId
/// fails  Cancelled
Result<Picture> layoutGraph(const graph::Graph &graph, const BlockTree &tree, const std::vector<char> &open,
                            const ItemSizes &sizes, const LayoutOptions &options, PieceCache &cache,
                            const Progress &progress = {});

} // namespace halftone::layout
