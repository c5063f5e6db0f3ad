#pragma once

#include "core/graph/model.h"

#include <vector>

namespace halftone::layout {

/// Which nodes get a box of their own, by NodeId: all operators, the data, and variables that several nodes read. A
/// parameter that one node reads belongs to that node. Parameters are what the model's file holds; without one, a
/// variable counts as data when some operator reads it as its first input, or when it stands for a label.
std::vector<char> drawnNodes(const graph::Model &model);

} // namespace halftone::layout
