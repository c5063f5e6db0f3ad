#pragma once

#include "core/backends/cuda/gpu.h"
#include "core/backends/cuda/toolkit/driver_calls.h"

namespace halftone::backends::cuda {

/// What the driver knows of a device without touching it.
Result<GpuInfo> driverInfo(const DriverCalls &calls, CUdevice device);

} // namespace halftone::backends::cuda
