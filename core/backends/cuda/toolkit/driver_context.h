#pragma once

#include "core/backends/cuda/toolkit/driver_calls.h"

#include <cstddef>
#include <string>

namespace halftone::backends::cuda {

inline CUdeviceptr deviceAddress(const std::byte *at)
{
    return reinterpret_cast<CUdeviceptr>(at);
}

/// The device's context; keeps it as long as anything on the device lives.
class DriverContext
{
public:
    DriverContext(const DriverCalls &calls, CUdevice device)
        : m_calls(calls)
        , m_device(device)
    {
    }
    DriverContext(const DriverContext &) = delete;
    DriverContext &operator=(const DriverContext &) = delete;
    ~DriverContext();

    const DriverCalls &calls() const { return m_calls; }
    CUstream stream() const { return m_stream; }

    /// Makes the device ready for the calling thread.
    Result<void> enter();
    /// What a call said. fails: NoMemory with what is free, where memory was lacking; else as driverError()
    Result<void> check(CUresult code, const std::string &what) const;
    /// The same of a call that asked for memory.
    Result<void> checkMemory(CUresult code, std::size_t bytes, const std::string &what) const;

private:
    /// ", 100 MiB of 24 GiB free"; empty where the driver does not say.
    std::string freeText() const;

    DriverCalls m_calls;
    CUdevice m_device;
    CUcontext m_context = nullptr;
    CUstream m_stream = nullptr;
};

} // namespace halftone::backends::cuda
