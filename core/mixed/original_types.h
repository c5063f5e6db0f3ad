#pragma once

#include "core/mixed/typed_plan.h"

namespace halftone::mixed {

/// Fills in `original`, and `native` of variables whose readers say what they are. What an operator gives that nobody knows has the type that
/// its readers need. Needs: order, firstOutput, and the types of variables. fails: BadInput for a graph that is ill-typed itself
Result<void> inferOriginals(const graph::Graph &source, const infer::NodeTypes &rules,
                            std::span<const infer::Variable> variables, TypedPlan &plan);

} // namespace halftone::mixed
