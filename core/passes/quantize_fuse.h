#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"

#include <string>
#include <vector>

namespace halftone::passes {

/// A graph on the way to int8.
struct FusedGraph
{
    graph::Graph graph;
    /// By NodeId: names, in the given graph, of the node's outputs' values; the node's own but for fused ones.
    std::vector<std::string> sources;
    std::vector<std::vector<std::string>> members; ///< by NodeId: names of the nodes in a fused one
};

/// What the heads need, as it is.
FusedGraph unfused(const graph::Graph &graph);

/// Convolutions become `_sg_mkldnn_conv` with the BatchNorm, the addition and the activation that follow, fully connected
/// layers `_sg_mkldnn_fully_connected` with their activation, named and numbered as MXNet 1.9.1's backend does for
/// quantization; identities and Dropout between operators are gone. A node is fused only where nothing else, heads
/// included, reads the one before.
/// fails: BadInput for an attribute that does not read, naming the node
Result<FusedGraph> fuseForQuantization(const graph::Graph &graph);

} // namespace halftone::passes
