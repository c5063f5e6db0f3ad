#pragma once

#include "core/base/result.h"
#include "core/runtime/backend.h"
#include "core/tensor/tensor.h"

namespace halftone::runtime {

inline constexpr std::size_t kAlignment = 64; ///< of everything that kernels write

/// A tensor that is being written.
struct Buffer
{
    tensor::Tensor tensor; ///< shares `bytes`, which must not change any more once others read it
    std::byte *bytes = nullptr;
};

/// Room for a tensor, aligned, its content undefined. fails: Unsupported when it is too large to be addressed.
Result<Buffer> allocate(const TensorDesc &desc);

/// The same tensor where kernels can read it: at a multiple of its elements' size. Copied where it lies elsewhere, as it may
/// in a mapped file.
Result<tensor::Tensor> readable(const tensor::Tensor &tensor);

TensorDesc descOf(const tensor::Tensor &tensor);

} // namespace halftone::runtime
