#pragma once

#include "core/mixed/convert_model.h"

#include <unordered_map>
#include <vector>

namespace halftone::mixed {

/// By graph, which is the converted one or a body in it, and by NodeId: does the node read or give the 16-bit type? Bodies that stay as
/// they are are missing.
using LoweredNodes = std::unordered_map<const graph::Graph *, std::vector<bool>>;

/// What a conversion would make of a model, without making it. What is asked for in int8 counts as if it were not.
/// needs  another mode than NodeForNode
/// fails  as convertModel()
Result<LoweredNodes> loweredNodes(const graph::Model &source, const policy::Policy &policy,
                                  const Decided &decided, const infer::ShapeMap *shapes,
                                  const Progress &progress = {});

} // namespace halftone::mixed
