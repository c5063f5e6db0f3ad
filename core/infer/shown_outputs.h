#pragma once

#include "core/graph/graph.h"

#include <cstddef>
#include <string>
#include <vector>

namespace halftone::infer {

/// For every node, how many of its outputs a person may see: the declared ones, and hidden ones that something reads.
std::vector<std::size_t> shownOutputs(const graph::Graph &graph);

/// The key of an output among all nodes' values: "node", "node:1", ….
std::string valueName(const graph::Graph &graph, graph::NodeId node, std::size_t output);

} // namespace halftone::infer
