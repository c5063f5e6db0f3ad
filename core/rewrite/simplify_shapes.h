#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// Arithmetic on shapes whose result follows from the shapes that the model declares (infer::staticValues()) gives way to constants, and
/// so does the target of a Reshape of which all is known but extents that the tensor has at the same place (0) and one more (-1).
/// Of the main graph; parameters that a caller may replace are no constants.
/// fails: BadInput for shapes that contradict each other (where = the node), and as infer::storedTypes()
Result<Rewritten> simplifyShapes(const graph::Model &model, const RewriteRequest &request);

} // namespace halftone::rewrite
