#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>

namespace halftone::runtime {

/// Elements of a 16-bit float type as float: exact. Needs: isHalf(type); no alignment.
void widenHalves(tensor::DType type, const std::byte *elements, std::size_t count, float *out);

/// Rounded to the nearest, ties to even. Needs: isHalf(type); no alignment.
void narrowToHalves(const float *values, std::size_t count, tensor::DType type, std::byte *elements);

} // namespace halftone::runtime
