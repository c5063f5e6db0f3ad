#pragma once

#include "core/graph/graph.h"

#include <string>

namespace halftone::dialect::mxnet {

/// The name of a tensor as MXNet lists it: a variable's own name, else the node's with the output's ("fc_output", "split_output1",
/// "bn_moving_mean"). Outputs of unknown operators are "<node>_output", "<node>_output1", ….
std::string entryName(const graph::Graph &graph, const graph::Entry &entry);

} // namespace halftone::dialect::mxnet
