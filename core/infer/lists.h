#pragma once

#include "core/graph/graph.h"

namespace halftone::infer {

/// Is the value a list of tensors (core/ops/tensor_list.h), not a tensor? What comes in by a variable counts as a tensor.
bool isList(const graph::Graph &graph, const graph::Entry &entry);

} // namespace halftone::infer
