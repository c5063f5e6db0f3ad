#pragma once

#include "core/graph/graph.h"
#include "core/patterns/unit.h"

#include <cstddef>
#include <span>
#include <vector>

namespace halftone::layout {

/// A stretch of an order of nodes that a unit is: the places [first, last).
struct UnitGroup
{
    patterns::UnitKind kind = patterns::UnitKind::LayerNorm;
    std::size_t first = 0;
    std::size_t last = 0;

    std::size_t size() const { return last - first; }
};

/// Nodes in a topological order in which those of a unit stand together.
struct UnitOrder
{
    std::vector<graph::NodeId> nodes;
    std::vector<UnitGroup>
        groups; ///< by `first`, of those the larger first; none overlaps another but to lie in it
};

/// `nodes` (in topological order) anew. What is computed of a unit's values for that unit alone (the shape that a reshape
/// asks for), and constants that it alone reads, stand with it. Units of which other values are read than their last
/// node's are left out: other nodes would have to stand among theirs.
UnitOrder orderByUnits(const graph::Graph &graph, std::span<const graph::NodeId> nodes,
                       std::span<const patterns::Unit> units);

} // namespace halftone::layout
