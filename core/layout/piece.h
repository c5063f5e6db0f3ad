#pragma once

#include "core/layout/geometry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace halftone::layout {

/// A part of a graph that is laid out on its own. Nodes stand in topological order: an edge goes from a lower to a higher
/// index. The first node comes alone in the top row and the last one alone in the bottom row, so that pieces can be put
/// below one another at the node that they share.
struct Piece
{
    struct Edge
    {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
    };

    std::vector<Size> nodes;
    std::vector<Edge> edges;
    /// Where edges come into a node and leave it, from its left border; in a chain these places stand below one another.
    /// Empty: in the middle.
    std::vector<double> enter;
    std::vector<double> leave;
    std::uint32_t tops = 1; ///< so many of the first nodes are in the top row
    std::uint32_t bottoms = 1; ///< so many of the last nodes are in the bottom row

    /// Nodes, and rows that edges cross: what laying out costs grows with both.
    std::size_t weight() const;
};

/// Where everything of a piece lies: the whole begins at (0, 0).
struct PieceLayout
{
    std::vector<Rect> nodes;
    std::vector<Polyline> edges; ///< from the lower border of a node to the upper border of another
    Size size;
};

/// Distances between what is drawn.
struct Gaps
{
    double node = 24; ///< between neighbours in a row
    double row = 36;
};

/// Puts the layout's left upper corner at (0, 0), and the ends of edges on the borders of their nodes.
void tidy(const Piece &piece, PieceLayout &layout);

} // namespace halftone::layout
