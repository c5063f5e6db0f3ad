#pragma once

#include "core/mixed/typed_plan.h"

#include <vector>

/// Sequences of tensors and optional values. No operator casts them: a sequence has one type from the node that makes it to the nodes that
/// take its tensors out (M-typed-lists).
namespace halftone::mixed {

/// Does the plan read a sequence in another type than it has?
bool castsSequence(const graph::Graph &source, const TypedPlan &plan);

/// By NodeId: does the node read or give a sequence?
std::vector<bool> sequenceNodes(const graph::Graph &source);

} // namespace halftone::mixed
