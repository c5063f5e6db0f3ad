#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// Removes amp_casts that change nothing: to the type that the tensor has anyway, and back to the type that a
/// preceding exact widening came from (float16 or bfloat16 to float32 and back). A cast behind an exact
/// widening reads what that one reads. Casts at heads stay, so that outputs keep their names. Types come from
/// the stored parameters and `__dtype__`; data count as float32. fails: BadInput for a model whose types
/// contradict each other.
Result<Rewritten> foldCasts(const graph::Model &model, const Progress &progress);

} // namespace halftone::rewrite
