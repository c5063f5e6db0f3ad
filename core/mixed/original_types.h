#pragma once

#include "core/mixed/typed_plan.h"

namespace halftone::mixed {

/// Sets `original`, and `native` of variables whose readers determine their type. Outputs of unknown operators get the type that their
/// readers require. Needs: order, firstOutput, and the types of variables. fails: BadInput for an ill-typed graph
Result<void> inferOriginals(const graph::Graph &source, const infer::NodeTypes &rules,
                            std::span<const infer::Variable> variables, TypedPlan &plan);

} // namespace halftone::mixed
