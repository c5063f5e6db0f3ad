#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// Gives a mixed-precision model back without casts, for a platform without that precision: readers of an
/// amp_cast or amp_multicast read what it reads, through any number of them; casts that are heads stay, so
/// that outputs keep their types (core/mixed/RULES.md, M-strip). Parameters stored in 16 bit
/// become float32, and their `__dtype__` marks with them: the values stay rounded as they were, and a note
/// says so.
/// In a format that tells every type itself (ONNX) casts between real types go whoever wrote them; constants and casts from other types
/// that say 16 bit say float32, and so in bodies, where what a body gives keeps its cast.
/// fails: there Unsupported for a node that makes 16 bit by itself; where = its name
Result<Rewritten> stripCasts(const graph::Model &model, const Progress &progress);

} // namespace halftone::rewrite
