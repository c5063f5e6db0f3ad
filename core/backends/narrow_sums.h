#pragma once

#include "core/kernels/backend.h"

#include <memory>

namespace halftone::backends {

/// In front of a chain: products of 16-bit values (convolutions, transposed ones, dense layers, matrix products, attention, recurrences)
/// are computed by the reference kernels with sums in `accumulator`, F16 or BF16, as chips do that have no wider one: each product,
/// exact in float32, is added and the sum rounded, in the order of the definition. Chips add in orders of their own, so their results
/// differ in the last bits. Everything else is left to the chain.
std::shared_ptr<const kernels::Backend> narrowSums(tensor::DType accumulator, unsigned threads);

} // namespace halftone::backends
