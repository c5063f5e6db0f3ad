#pragma once

#include "core/graph/graph.h"

#include <map>
#include <set>
#include <string>

namespace halftone::quantize {

/// What is done otherwise than MXNet's quantization does it, because MXNet would not compute what the graph says (see
/// dialect::Arithmetic::int8Defect). Nodes are those of the given graph.
struct Deviations
{
    std::set<graph::NodeId> withoutSum; ///< convolutions that no addition is fused to
    std::set<graph::NodeId> halvedCodes; ///< convolutions whose uint8 result uses the codes up to 127
    std::set<graph::NodeId>
        sums; ///< convolutions that give 32-bit sums, which a node of its own makes codes of
    std::map<graph::NodeId, std::string> real; ///< these stay as they are, and why

    bool givesSums(graph::NodeId convolution) const { return sums.contains(convolution); }
    bool halvesCodes(graph::NodeId convolution) const { return halvedCodes.contains(convolution); }
};

} // namespace halftone::quantize
