#include "core/backends/cuda/toolkit/driver_context.h"

#include "core/base/text.h"

namespace halftone::backends::cuda {

DriverContext::~DriverContext()
{
    if (m_context == nullptr)
        return;
    m_calls.cuCtxSetCurrent(m_context);
    if (m_stream != nullptr)
        m_calls.cuStreamDestroy(m_stream);
    m_calls.cuDevicePrimaryCtxRelease(m_device);
}

Result<void> DriverContext::enter()
{
    if (m_context == nullptr)
        HALFTONE_CHECK(check(m_calls.cuDevicePrimaryCtxRetain(&m_context, m_device), "the device's context"));
    HALFTONE_CHECK(check(m_calls.cuCtxSetCurrent(m_context), "the device's context"));
    if (m_stream == nullptr)
        return check(m_calls.cuStreamCreate(&m_stream, CU_STREAM_NON_BLOCKING), "a stream");
    return {};
}

Result<void> DriverContext::check(CUresult code, const std::string &what) const
{
    if (code == CUDA_SUCCESS)
        return {};
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        return noMemory("out of memory of the device: requested by " + what + freeText());
    return driverError(m_calls, code, what);
}

Result<void> DriverContext::checkMemory(CUresult code, std::size_t bytes, const std::string &what) const
{
    if (code != CUDA_ERROR_OUT_OF_MEMORY)
        return check(code, what);
    return noMemory("out of memory of the device: " + humanBytes(bytes) + " requested for " + what
                    + freeText());
}

std::string DriverContext::freeText() const
{
    std::size_t left = 0;
    std::size_t total = 0;
    if (m_context == nullptr || m_calls.cuMemGetInfo(&left, &total) != CUDA_SUCCESS)
        return {};
    return ", " + humanBytes(left) + " of " + humanBytes(total) + " free";
}

} // namespace halftone::backends::cuda
