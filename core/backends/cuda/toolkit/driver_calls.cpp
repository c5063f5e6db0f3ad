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
#define HALFTONE_CALL(name) library.value().get(HALFTONE_TEXT(name), calls.name);
    HALFTONE_DRIVER_CALLS_IF_THERE(HALFTONE_CALL)
#undef HALFTONE_CALL
    if (!missing.empty())
        return unsupported("cuda", "the NVIDIA driver is too old: it lacks" + missing);
    return calls;
}

namespace {

/// Errors after which nothing works in this process.
bool isLost(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_CONTAINED:
        return true;
    default:
        return false;
    }
}

} // namespace

Error driverError(const DriverCalls &calls, CUresult code, const std::string &what)
{
    const char *name = nullptr;
    const char *text = nullptr;
    calls.cuGetErrorName(code, &name);
    calls.cuGetErrorString(code, &text);
    const std::string said = std::string(name == nullptr ? "an unknown error" : name) + " ("
        + (text == nullptr ? std::to_string(static_cast<int>(code)) : text) + ')';
    const std::string advice = isLost(code) ? "; the device was lost: restart the program"
        : code == CUDA_ERROR_DEVICE_UNAVAILABLE
        ? "; the device is busy: another program uses it exclusively, or its compute mode forbids use"
        : "";
    return unsupported("cuda", what + ": " + said + advice);
}

} // namespace halftone::backends::cuda
