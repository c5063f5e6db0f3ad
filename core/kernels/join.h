#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <span>

namespace halftone::kernels {

/// Rows [first, first + number) of the first axis, as far as there are some; shares the bytes. Needs: rank 1 or more.
tensor::Tensor sliceRows(const tensor::Tensor &tensor, std::size_t first, std::size_t number);

/// The tensors one after the other along the first axis. fails: BadInput when they differ in type, rank or another axis,
/// or have rank 0 (one tensor alone is given back as it is).
Result<tensor::Tensor> joinRows(std::span<const tensor::Tensor> tensors);

} // namespace halftone::kernels
