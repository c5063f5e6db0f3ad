#pragma once

#include "core/base/result.h"

#include <cuda.h>

namespace halftone::backends::cuda {

/// The driver's functions that are used, found at run time, so that a program starts without a driver. Tests fill the table with
/// functions of their own.
// clang-format off
#define HALFTONE_DRIVER_CALLS(X) \
    X(cuInit) X(cuDeviceGetCount) X(cuDeviceGet) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) \
    X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) X(cuMemGetInfo) \
    X(cuMemAlloc) X(cuMemFree) X(cuMemAllocHost) X(cuMemFreeHost) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) X(cuMemsetD8Async) \
    X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamBeginCapture) X(cuStreamEndCapture) \
    X(cuGraphInstantiate) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) X(cuGraphGetNodes) X(cuGraphNodeGetType) \
    X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) X(cuEventElapsedTime) \
    X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel) X(cuGetErrorName) X(cuGetErrorString)
/// Those that one can do without.
#define HALFTONE_DRIVER_CALLS_IF_THERE(X) X(cuEventRecordWithFlags)
// clang-format on

struct DriverCalls
{
#define HALFTONE_CALL(name) decltype(&::name) name = nullptr;
    HALFTONE_DRIVER_CALLS(HALFTONE_CALL)
    HALFTONE_DRIVER_CALLS_IF_THERE(HALFTONE_CALL)
#undef HALFTONE_CALL
};

/// Those of this machine's driver. fails: Unsupported, saying which library or function is missing
Result<DriverCalls> loadDriver();

/// What a call said, as an error: "WHAT: CUDA_ERROR_… (…)". Needs: not CUDA_SUCCESS
Error driverError(const DriverCalls &calls, CUresult code, const std::string &what);

} // namespace halftone::backends::cuda
