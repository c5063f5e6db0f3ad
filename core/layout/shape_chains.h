#pragma once

#include "core/graph/graph.h"
#include "core/patterns/unit.h"

#include <vector>

namespace halftone::layout {

/// What computes integers of shapes alone (Shape, Gather, Concat, … up to the node that takes them as a shape).
struct ShapeArithmetic
{
    std::vector<char> nodes; ///< by NodeId: is it one?
    /// Two or more each, of which nothing reads anything but the last one's values: those that serve one reader together.
    std::vector<patterns::Unit> chains;
};

/// drawn  by NodeId: other nodes are constants
ShapeArithmetic shapeArithmetic(const graph::Graph &graph, const std::vector<char> &drawn);

} // namespace halftone::layout
