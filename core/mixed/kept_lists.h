#pragma once

#include "core/mixed/typed_plan.h"

#include <vector>

/// Lists of tensors and optional values (sequences and optionals of ONNX), which nothing casts: they have one type from where they are made to
/// where they are taken apart (M-typed-lists).
namespace halftone::mixed {

/// Does the plan read one in another type than it has?
bool castsList(const graph::Graph &source, const TypedPlan &plan);

/// By NodeId: which nodes read or give one.
std::vector<bool> nodesOfLists(const graph::Graph &source);

} // namespace halftone::mixed
