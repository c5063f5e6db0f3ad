#pragma once

#include "core/rewrite/rewrite.h"
#include "core/tensor/tensor.h"

#include <span>

namespace halftone::rewrite {

/// Gives parameters that are stored in 16 bit back as the float32 arrays that they were rounded from.
///
/// originals  arrays of the float32 model, found by name; others are ignored
/// notes      how many 16-bit parameters have no original and stay
/// fails      BadInput for an original of another shape, or whose rounding does not give the stored values: it belongs to
///            another model (where = the array's name); Cancelled
Result<Rewritten> restoreParameters(const graph::Model &model, std::span<const tensor::Array> originals,
                                    const Progress &progress);

} // namespace halftone::rewrite
