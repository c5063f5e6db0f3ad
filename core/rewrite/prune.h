#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// Removes the nodes that no head needs and the parameters that no remaining variable reads. Names and order
/// of the rest stay.
Result<Rewritten> prune(const graph::Model &model, const Progress &progress);

} // namespace halftone::rewrite
