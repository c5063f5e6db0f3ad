#pragma once

#include "core/graph/graph.h"

namespace halftone::infer {

/// Is the value a list of tensors (core/ops/tensor_list.h), not a tensor? What comes in by a variable counts as a tensor.
bool isList(const graph::Graph &graph, const graph::Entry &entry);

/// Is it a list or an optional value, which no operator casts?
bool isNoTensor(const graph::Graph &graph, const graph::Entry &entry);

/// The same of an input, which its reader tells as well: what comes in by a variable of a body, say.
bool isNoTensor(const graph::Graph &graph, graph::NodeId reader, std::size_t input);

} // namespace halftone::infer
