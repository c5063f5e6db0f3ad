#pragma once

#include "core/base/result.h"
#include "core/kernels/backend.h"
#include "core/tensor/tensor.h"

namespace halftone::kernels {

inline constexpr std::size_t kAlignment = 64; ///< of everything that kernels write

/// A tensor that is being written.
struct Buffer
{
    tensor::Tensor tensor; ///< shares `bytes`, which must not change any more once others read it
    std::byte *bytes = nullptr;
};

/// Bytes of a tensor whose shape is fully known. fails: NoMemory where no machine has so many
Result<std::size_t> checkedBytes(const TensorDesc &desc);

/// Room for a tensor, aligned, its content undefined. fails: NoMemory, also where the system would grant more than there is.
Result<Buffer> allocate(const TensorDesc &desc);

/// The same tensor where kernels can read it: at a multiple of its elements' size. Copied where it lies elsewhere, as it may
/// in a mapped file.
Result<tensor::Tensor> readable(const tensor::Tensor &tensor);

/// The same values in another type, as tensor::convert() makes them. fails: as allocate()
Result<tensor::Tensor> converted(const tensor::Tensor &tensor, tensor::DType type);

TensorDesc descOf(const tensor::Tensor &tensor);

} // namespace halftone::kernels
