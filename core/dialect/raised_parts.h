#pragma once

#include "core/graph/graph.h"

#include <vector>

namespace halftone::dialect {

/// Nodes of a file that its newer version needs around an operator of an older one (Dialect::raised()): they were one node when the file was
/// converted, and go with it when it is converted again.
/// By NodeId: the operator; the node itself for all that are no such parts.
std::vector<graph::NodeId> raisedParts(const graph::Graph &graph);

} // namespace halftone::dialect
