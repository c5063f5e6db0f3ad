#pragma once

#include "core/ops/operator.h"
#include "core/tensor/shape.h"

#include <span>

namespace halftone::ops {

/// The same operator with paddings in numbers where it says Padding::Same, so that kernels need not know that.
/// Needs: complete shapes of its inputs, which its rule has accepted
Operator settled(const Operator &op, std::span<const tensor::Shape> inputs);

} // namespace halftone::ops
