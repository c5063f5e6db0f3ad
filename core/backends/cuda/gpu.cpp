#include "core/backends/cuda/gpu.h"

namespace halftone::backends::cuda {

std::string GpuInfo::toString() const
{
    return name + " (sm_" + std::to_string(arch) + "), " + std::to_string(multiprocessors)
        + " multiprocessors at " + std::to_string(clockMhz) + " MHz, memory "
        + std::to_string(memoryBytes >> 30U) + " GiB at " + std::to_string(memoryMhz) + " MHz";
}

} // namespace halftone::backends::cuda
