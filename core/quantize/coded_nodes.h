#pragma once

#include "core/graph/model.h"

#include <vector>

namespace halftone::quantize {

/// By NodeId: the product or other operator that a node of the given graph is computed with codes for, itself where it is that;
/// rewrite::kNoNode: it is not computed with codes. Products all whose factors were codes, what is computed within them, what
/// else reads and gives nothing but such values, operators on codes, and the nodes of pairs. Empty: there is none.
std::vector<graph::NodeId> codedNodes(const graph::Model &model);

/// Of those the ones that stop being so when `released` are computed otherwise: these, what is computed within them, and what has
/// no way left to a product through values in pairs. Pairs vanish by themselves.
std::vector<bool> releasedWith(const graph::Graph &graph, const std::vector<graph::NodeId> &coded,
                               const std::vector<bool> &released);

} // namespace halftone::quantize
