#pragma once

#include "core/kernels/backend.h"

namespace halftone::kernels {

/// The same bytes in memory: those of one tensor and its copies.
bool areSame(const tensor::Tensor &a, const tensor::Tensor &b);
/// Would one kernel do for both? But for their names, and with the same constants in memory.
bool areSame(const Operation &a, const Operation &b);

} // namespace halftone::kernels
