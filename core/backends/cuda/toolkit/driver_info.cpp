#include "core/backends/cuda/toolkit/driver_info.h"

#include <array>

namespace halftone::backends::cuda {

Result<GpuInfo> driverInfo(const DriverCalls &calls, CUdevice device)
{
    GpuInfo info;
    std::array<char, 128> name{};
    int major = 0;
    int minor = 0;
    int kilohertz = 0;
    int memoryKilohertz = 0;
    const auto get = [&](int &value, CUdevice_attribute attribute) {
        return calls.cuDeviceGetAttribute(&value, attribute, device);
    };
    for (const CUresult code : {calls.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
                                get(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                get(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                                get(info.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                                get(kilohertz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
                                get(memoryKilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
                                get(info.memoryBits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
                                calls.cuDeviceTotalMem(&info.memoryBytes, device)})
        if (code != CUDA_SUCCESS)
            return driverError(calls, code, "the device's properties");
    info.name = name.data();
    info.arch = 10 * major + minor;
    info.clockMhz = kilohertz / 1000;
    info.memoryMhz = memoryKilohertz / 1000;
    return info;
}

} // namespace halftone::backends::cuda
