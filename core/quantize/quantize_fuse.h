#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/rewrite/conversion.h"

#include <set>
#include <string>
#include <vector>

namespace halftone::quantize {

/// A graph on the way to int8.
struct FusedGraph
{
    graph::Graph graph;
    /// By NodeId: names, in the given graph, of the node's outputs' values; the node's own but for fused ones.
    std::vector<std::string> sources;
    std::vector<std::vector<std::string>> members; ///< by NodeId: names of the nodes in a fused one
    std::vector<std::vector<graph::NodeId>> origins; ///< by NodeId: nodes of the given graph in it, in order
    std::vector<std::vector<rewrite::Reader>>
        reads; ///< by NodeId: which input of the given graph each of its inputs is
    std::vector<rewrite::MergedNode> dropped; ///< identities that are gone, into what they pass on
};

/// Which nodes of a given graph may be fused, by NodeId; an empty list says nothing.
struct FuseLimits
{
    std::vector<bool> asked; ///< only these begin a fused node
    std::vector<bool> apart; ///< these stay nodes of their own
    std::set<graph::NodeId> withoutSum = {}; ///< convolutions that no addition is fused to
    std::set<graph::NodeId> sums = {}; ///< convolutions that will not know their range
    bool isCalibrated = true; ///< other fused nodes will know their ranges
};

/// What the heads need, as it is.
FusedGraph unfused(const graph::Graph &graph);

/// Convolutions become one node with the BatchNorm, the addition and the activation that follow, fully connected layers with
/// their activation, named and numbered as the format has it; identities and Dropout between operators are gone. A node is fused only where nothing else, heads
/// included, reads the one before. With `limits.asked` identities go only where such a node reads them, and an addition is
/// fused only where it is asked for itself or adds what is int8 anyway. Activations are fused where the format says
/// so (QuantizedForms::mayFuse). Needs: a format with int8 forms.
/// fails: BadInput for an attribute that does not read, naming the node
Result<FusedGraph> fuseForQuantization(const graph::Graph &graph, const FuseLimits &limits = {});

} // namespace halftone::quantize
