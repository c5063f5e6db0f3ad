#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>

namespace halftone::tensor {

/// The floats that are known here: the formats for analysis, float4, and powers of two.
constexpr bool isCoded(DType type)
{
    return isForAnalysis(type) || type == DType::F4E2M1 || type == DType::F8E8M0;
}

/// Elements of such a format as numbers: exact. No alignment needed.
template <class Real>
void widenAnalysed(DType type, const std::byte *elements, std::size_t count, Real *out);

/// Rounded once to the nearest, ties to even. What is too large becomes infinity, in float8_e4m3fn NaN, in posit16 and
/// float4 the largest number; NaN becomes zero in float4. Powers of two hold
/// no zero and no sign: what is below the least becomes that. float32 and float64 alike.
template <class Real>
void narrowAnalysed(const Real *values, std::size_t count, DType type, std::byte *elements);

} // namespace halftone::tensor
