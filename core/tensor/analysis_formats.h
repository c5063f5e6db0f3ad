#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>

namespace halftone::tensor {

/// Elements of a format for analysis (isForAnalysis) as numbers: exact. No alignment needed.
template <class Real>
void widenAnalysed(DType type, const std::byte *elements, std::size_t count, Real *out);

/// Rounded once to the nearest, ties to even. What is too large becomes infinity, in float8_e4m3fn NaN, in posit16 the largest
/// number; float32 and float64 alike.
template <class Real>
void narrowAnalysed(const Real *values, std::size_t count, DType type, std::byte *elements);

} // namespace halftone::tensor
