#pragma once

#include "core/backends/cuda/gpu.h"
#include "core/backends/cuda/toolkit/compiler.h"
#include "core/backends/cuda/toolkit/driver_calls.h"

#include <memory>
#include <vector>

namespace halftone::backends::cuda {

/// What makes products: cuDNN, cuBLASLt. Called with the device's context current.
class ProductMaker
{
public:
    virtual ~ProductMaker() = default;
    /// fails: Unsupported for a product that the library does not take
    virtual Result<std::unique_ptr<Product>> prepare(const ProductDesc &desc, CUstream stream) = 0;
    /// The same of attention. Arguments: queries, keys, values, the scale (one float32)[, mask], result.
    virtual Result<std::unique_ptr<Product>> prepareAttention(const AttentionDesc &, CUstream)
    {
        return unsupported("cuda", "no fused attention");
    }
};

/// The first device. Nothing is done on it before memory is asked for.
/// fails: Unsupported where there is no device
Result<std::shared_ptr<Gpu>> driverGpu(const DriverCalls &calls, std::shared_ptr<const Compiler> compiler,
                                       std::vector<std::shared_ptr<ProductMaker>> makers);

} // namespace halftone::backends::cuda
