#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// Gives a mixed-precision model back without casts, for a platform without that precision: readers of an
/// amp_cast or amp_multicast read what it reads, through any number of them; casts that are heads stay, so
/// that outputs keep their types (core/mixed/RULES.md, M-strip). Parameters stored in 16 bit
/// become float32, and their `__dtype__` marks with them: the values stay rounded as they were, and a note
/// says so.
Result<Rewritten> stripCasts(const graph::Model &model, const Progress &progress);

} // namespace halftone::rewrite
