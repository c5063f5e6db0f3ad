#include "core/backends/cuda/backend.h"
#include "core/backends/cuda/toolkit/blas.h"
#include "core/backends/cuda/toolkit/dnn.h"
#include "core/backends/cuda/toolkit/driver_gpu.h"
#include "core/backends/cuda/toolkit/gpu_entries.h"

namespace halftone::backends::cuda {
namespace {

/// missing  receives what was not found
Result<std::shared_ptr<Gpu>> firstGpu(std::vector<std::string> &missing)
{
    HALFTONE_TRY(const DriverCalls calls, loadDriver());
    HALFTONE_TRY(std::shared_ptr<const Compiler> compiler, loadNvrtc());
    std::vector<std::shared_ptr<ProductMaker>> makers;
    const auto take = [&](const char *library, Result<std::shared_ptr<ProductMaker>> maker) {
        if (maker.ok())
            makers.push_back(std::move(maker).value());
        else // kernels of our own compute products then
            missing.push_back(std::string(library) + " (" + maker.error().found + ')');
    };
    take("cuBLASLt", loadBlas());
    take("cuDNN", loadDnn());
    return driverGpu(calls, std::move(compiler), std::move(makers));
}

std::string told(const std::vector<std::string> &missing)
{
    std::string text;
    for (const std::string &one : missing)
        text += (text.empty() ? "; without " : ", ") + one;
    return text;
}

} // namespace

std::vector<BackendEntry> backendEntries(std::string_view name)
{
    std::vector<std::string> missing;
    const auto gpu = firstGpu(missing);
    if (!gpu.ok()) {
        const std::string why = gpu.error().found;
        return {{.name = std::string(name),
                 .device = {},
                 .why = why.starts_with("no CUDA device") ? why : "no CUDA device: " + why,
                 .make = {}}};
    }
    return gpuEntries(name, gpu.value(), missing);
}

std::vector<BackendEntry> gpuEntries(std::string_view name, const std::shared_ptr<Gpu> &gpu,
                                     const std::vector<std::string> &missing)
{
    const GpuInfo &info = gpu->info();
    const auto entry = [&](std::string of, const EmitOptions &options, std::string why) {
        return BackendEntry{.name = std::move(of),
                            .architecture = "sm_" + std::to_string(info.arch),
                            .bandwidth = info.bandwidth(),
                            .device = info.toString(),
                            .why = std::move(why),
                            .makesPlans = true,
                            .make = [gpu, options](const BackendUse &use) {
                                return cudaBackend(gpu, options, use.fallback);
                            }};
    };
    return {entry(std::string(name), {},
                  "built-in kernels and NVIDIA's libraries; other operators run on the CPU" + told(missing)),
            entry(std::string(name) + "-tf32", {.allowsTf32 = true},
                  "as cuda, with float32 products in TF32 (10-bit mantissa, float32 sums)")};
}

} // namespace halftone::backends::cuda
