#pragma once

#include "core/tensor/cast_report.h"
#include "core/tensor/dtype.h"

#include <cstddef>

namespace halftone::tensor {

/// Elements of a 16-bit float type as float: exact. Needs: isHalf(type); no alignment.
void widenHalves(tensor::DType type, const std::byte *elements, std::size_t count, float *out);

/// Rounded to the nearest, ties to even. Needs: isHalf(type); no alignment.
void narrowToHalves(const float *values, std::size_t count, tensor::DType type, std::byte *elements);
/// The same, and what it did is added to `report`. Needs: fewer than 2^32 values
void narrowToHalves(const float *values, std::size_t count, tensor::DType type, std::byte *elements,
                    CastReport &report);

} // namespace halftone::tensor
