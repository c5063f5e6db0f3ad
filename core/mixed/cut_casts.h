#pragma once

#include "core/mixed/cast_problem.h"

namespace halftone::mixed {

/// Gives neutral and widest operators, and what goes into bodies of control flow and out of them, the types that need the fewest bytes of casts
/// over the whole nest (core/mixed/RULES.md, M-typed-cut, M-typed-bodies), of which each alone might be worse off than before, and says of
/// each operator what the other type would have cost. No value loses bits that somebody reads.
void cutCasts(TypedLevel &root, const CastContext &context);

/// What each choice would have cost otherwise, where those in 16 bit are as `isHalf` says, by choice.
std::vector<rewrite::TypeChoice> pricesOf(const CastProblem &problem, const std::vector<bool> &isHalf,
                                          tensor::DType target);

} // namespace halftone::mixed
