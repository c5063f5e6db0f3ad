#pragma once

#include "core/mixed/plan_edit.h"

namespace halftone::mixed {

/// Gives neutral and widest operators the types that need the fewest casts over the whole graph (core/mixed/RULES.md,
/// M-typed-cut), of which each alone might be worse off than before. No value loses bits that somebody reads.
void cutCasts(PlanEdit &edit);

} // namespace halftone::mixed
