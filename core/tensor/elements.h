#pragma once

#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <vector>

/// Between stored elements and the numbers that kernels compute with (float or double).
namespace halftone::tensor {

/// The elements as Real: exact, but for integers and doubles that Real cannot hold.
template <class Real>
void widen(tensor::DType type, const std::byte *elements, std::size_t count, Real *out);

/// Rounded once to the nearest, ties to even. To integers: cut towards zero as processors do it: what does not fit, and
/// NaN, is the smallest number; 16 bits and fewer are the low ones of what int32 would hold. To bool: not zero.
template <class Real>
void narrow(const Real *values, std::size_t count, tensor::DType type, std::byte *elements);

/// From one type to another with at most one rounding; integers to integers keep the low bits.
void convert(tensor::DType from, const std::byte *elements, std::size_t count, tensor::DType to,
             std::byte *out);

/// `value` as an element of a float type holds it, rounded once.
double heldIn(tensor::DType type, double value);

/// `value`, or the end of the float type's range where it lies beyond it, infinities too; NaN stays.
double saturated(tensor::DType type, double value);

/// Indices and lengths, whatever type they come in, cut towards zero.
std::vector<std::int64_t> integers(tensor::DType type, const std::byte *elements, std::size_t count);

} // namespace halftone::tensor
