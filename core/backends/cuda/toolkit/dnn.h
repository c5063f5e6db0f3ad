#pragma once

#include "core/backends/cuda/toolkit/driver_gpu.h"

namespace halftone::backends::cuda {

/// cuDNN 9 by its graph API: a convolution with bias, residual and activation behind it as one plan. fails: Unsupported where the
/// library is not there
Result<std::shared_ptr<ProductMaker>> loadDnn();

} // namespace halftone::backends::cuda
