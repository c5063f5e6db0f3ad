#pragma once

#include "core/mixed/cast_problem.h"

namespace halftone::mixed {

/// Gives neutral and widest operators the types that need the fewest bytes of casts over the whole graph (core/mixed/RULES.md,
/// M-typed-cut), of which each alone might be worse off than before, and says of each what the other type would have cost. No value loses
/// bits that somebody reads.
void cutCasts(const graph::Graph &source, const infer::NodeTypes &rules, const policy::Assignment &assignment,
              const CastContext &context, TypedPlan &plan);

/// What each choice would have cost otherwise, where those in 16 bit are as `isHalf` says, by choice.
std::vector<rewrite::TypeChoice> pricesOf(const CastProblem &problem, const std::vector<bool> &isHalf,
                                          tensor::DType target);

} // namespace halftone::mixed
