#pragma once

#include "core/backends/cuda/toolkit/driver_gpu.h"

#include <string>

namespace halftone::backends::cuda {

/// cuDNN 9 by its graph API: a convolution with bias, residual and activation behind it as one plan.
/// device  empty: that of the stream; else one that is not here, described as cuDNN does it (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
///         since 9.8): plans are made for it and cannot run
/// fails   Unsupported where the library is not there
Result<std::shared_ptr<ProductMaker>> loadDnn(const std::string &device = {});

} // namespace halftone::backends::cuda
