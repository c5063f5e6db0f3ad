#include "core/backends/cuda/gpu.h"

#include <cmath>

namespace halftone::backends::cuda {

std::optional<double> GpuInfo::bandwidth() const
{
    if (memoryMhz <= 0 || memoryBits <= 0)
        return std::nullopt;
    constexpr double kWordsAClock = 2;
    return kWordsAClock * memoryMhz * 1e6 * memoryBits / 8 / 1e9;
}

std::string GpuInfo::toString() const
{
    return name + " (sm_" + std::to_string(arch) + "), " + std::to_string(multiprocessors)
        + " multiprocessors at " + std::to_string(clockMhz) + " MHz, memory "
        + std::to_string(memoryBytes >> 30U) + " GiB at " + std::to_string(memoryMhz) + " MHz"
        + (bandwidth() ? ", " + std::to_string(std::lround(*bandwidth())) + " GB/s" : std::string());
}

Result<std::unique_ptr<Recording>> recorded(Gpu &gpu, const std::function<Result<void>()> &work)
{
    HALFTONE_CHECK(gpu.beginRecording());
    const Result<void> done = work();
    auto recording = gpu.endRecording(); // also where that failed: the stream must not stay in that state
    HALFTONE_CHECK(done);
    return recording;
}

} // namespace halftone::backends::cuda
