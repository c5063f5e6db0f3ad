#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace halftone::layout {

/// Nodes whose values are read all along the graph, such as a mask or a table of angles that every block takes: six readers or more,
/// each so many steps from the inputs as no other, and 24 steps or more from the first to the last. Ascending. Branches that begin at
/// one node stand side by side, and make it none.
///
/// drawn  by NodeId: others are neither readers nor sources
std::vector<graph::NodeId> farReads(const graph::Graph &graph, const std::vector<char> &drawn);

} // namespace halftone::layout
