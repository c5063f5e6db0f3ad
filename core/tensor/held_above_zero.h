#pragma once

#include "core/tensor/tensor.h"

#include <optional>

namespace halftone::tensor {

/// The smallest positive number of a 16-bit type in the shape of `values`, where these are one positive float32 number that a cast
/// makes 0; else nothing.
std::optional<Tensor> heldAboveZero(const Tensor &values, DType to);

} // namespace halftone::tensor
