#pragma once

#include "core/backends/cuda/toolkit/driver_gpu.h"

#include <array>

namespace halftone::backends::cuda {

/// A row-major product as cuBLASLt has it, which counts columns first: Cᵀ = Bᵀ · Aᵀ, so that its first matrix is our second.
struct BlasMatrix
{
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t leading = 0; ///< elements between columns
    std::int64_t batchStride = 0;
    bool isTransposed = false;
    std::int64_t offset = 0; ///< elements before the first
};
struct BlasProduct
{
    BlasMatrix first;
    BlasMatrix second;
    BlasMatrix result;
    BlasMatrix residual;
    std::int64_t batch = 1;
};
/// fails: Unsupported for views that it cannot see as matrices, and for what it does not do behind a product
Result<BlasProduct> blasProduct(const ProductDesc &desc);

/// cuBLASLt. fails: Unsupported where the library is not there
Result<std::shared_ptr<ProductMaker>> loadBlas();

} // namespace halftone::backends::cuda
