#pragma once

#include "core/tensor/tensor.h"

#include <optional>

namespace halftone::tensor {

/// The smallest positive number of a 16-bit type in the shape of `values`, where these are one positive float32 number that a cast
/// to that type makes 0; else nothing.
/// stored  the type that holds the number: `to`, or float32, which a cast makes the same number of `to` of
std::optional<Tensor> heldAboveZero(const Tensor &values, DType to, DType stored);

} // namespace halftone::tensor
