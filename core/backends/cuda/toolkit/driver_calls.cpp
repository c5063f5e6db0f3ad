#include "core/backends/cuda/toolkit/driver_calls.h"

#include "core/backends/cuda/toolkit/shared_library.h"

#include <string_view>

namespace halftone::backends::cuda {

#define HALFTONE_TEXT_(name) #name
#define HALFTONE_TEXT(name) HALFTONE_TEXT_(name) // cuda.h renames functions by macros: cuMemAlloc_v2

/// cuEventElapsedTime has a second version since CUDA 12.8, which takes the same: drivers before that have the first alone.
bool isSameByItsOldName(std::string_view name)
{
    return name == "cuEventElapsedTime";
}

Result<DriverCalls> loadDriver()
{
    const auto library = SharedLibrary::open({"libcuda.so.1"});
    if (!library.ok())
        return unsupported("cuda", "no NVIDIA driver: " + library.error().found);
    DriverCalls calls;
    std::string missing;
#define HALFTONE_CALL(name)                                                                                  \
    if (!library.value().get(HALFTONE_TEXT(name), calls.name)                                                \
        && !(isSameByItsOldName(#name) && library.value().get(#name, calls.name)))                           \
        missing += std::string(" ") + HALFTONE_TEXT(name);
    HALFTONE_DRIVER_CALLS(HALFTONE_CALL)
#undef HALFTONE_CALL
    if (!missing.empty())
        return unsupported("cuda", "the NVIDIA driver is too old: it lacks" + missing);
    return calls;
}

Error driverError(const DriverCalls &calls, CUresult code, const std::string &what)
{
    const char *name = nullptr;
    const char *text = nullptr;
    calls.cuGetErrorName(code, &name);
    calls.cuGetErrorString(code, &text);
    const std::string said = std::string(name == nullptr ? "an unknown error" : name) + " ("
        + (text == nullptr ? std::to_string(static_cast<int>(code)) : text) + ')';
    const bool isLost = code == CUDA_ERROR_ILLEGAL_ADDRESS || code == CUDA_ERROR_LAUNCH_FAILED
        || code == CUDA_ERROR_ECC_UNCORRECTABLE || code == CUDA_ERROR_DEVICE_UNAVAILABLE
        || code == CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return unsupported(
        "cuda", what + ": " + said + (isLost ? "; the device is lost or busy: start the program anew" : ""));
}

} // namespace halftone::backends::cuda
