#pragma once

#include "core/graph/graph.h"

#include <string>
#include <vector>

namespace halftone::walks {

/// The names of the values of all nodes, by NodeId and output. Duplicate names get "_1", "_2", ….
std::vector<std::vector<std::string>> valueNames(const graph::Graph &graph);

} // namespace halftone::walks
