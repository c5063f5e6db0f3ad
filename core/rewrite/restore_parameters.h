#pragma once

#include "core/rewrite/rewrite.h"

namespace halftone::rewrite {

/// Gives parameters that are stored in 16 bit back as the float32 arrays that they were rounded from; likewise constants that nodes
/// hold, in bodies too, which say float32 again and are still rounded.
///
/// original  the model before its conversion: its arrays and constants are found by name, others are ignored
/// notes     how many 16-bit parameters have no original and stay
/// fails     BadInput for an array of another shape, or whose rounding does not give the stored values: it belongs to
///           another model (where = the array's name); Cancelled
Result<Rewritten> restoreParameters(const graph::Model &model, const graph::Model &original,
                                    const Progress &progress);

} // namespace halftone::rewrite
