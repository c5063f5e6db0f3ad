#pragma once

#include "core/ops/op_sample.h"
#include "core/tensor/shape.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::ops {

/// The boxes that NonMaxSuppression keeps, as (batch, class, box): class by class, the best score first.
/// boxes   (N, boxes, 4), scores (N, classes, boxes) as their shape says
std::vector<std::array<std::int64_t, 3>> selectBoxes(const NonMaxSuppression &op,
                                                     std::span<const float> boxes,
                                                     std::span<const float> scores,
                                                     const tensor::Shape &scoreShape);

} // namespace halftone::ops
