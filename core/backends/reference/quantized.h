#pragma once

#include "core/backends/reference/arrays.h"
#include "core/ops/operator.h"

/// Kernels of operators on codes of 8 bits, found by the reference backend as those of kernels.h
/// are (core/quantize/RULES.md, section 3).
namespace halftone::backends::reference {

// clang-format off
template <class Real> Result<void> compute(const ops::Quantized<ops::Conv> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::FullyConnected> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Pool> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Activation> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::BatchNormalization> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Concat> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Flatten> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Binary> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Embedding> &, const Arrays<Real> &);
// clang-format on

/// On the bytes as they are stored: each part of it has a type of its own.
Result<void> computeRaw(const ops::FusedProduct &op, const RawArrays &arrays);

} // namespace halftone::backends::reference
