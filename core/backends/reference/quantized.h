#pragma once

#include "core/ops/operator.h"
#include "core/runtime/reference/arrays.h"

/// Kernels of MXNet's plain int8 operators (`_contrib_quantized_*`), found by the reference backend as those of kernels.h
/// are (spec: calibration-int8, section 3).
namespace halftone::runtime::reference {

// clang-format off
template <class Real> Result<void> compute(const ops::Quantized<ops::Conv> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::FullyConnected> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Pool> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Activation> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::BatchNorm> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Concat> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Flatten> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Binary> &, const Arrays<Real> &);
template <class Real> Result<void> compute(const ops::Quantized<ops::Embedding> &, const Arrays<Real> &);
// clang-format on

} // namespace halftone::runtime::reference
