#include "core/backends/cuda/backend.h"
#include "core/backends/cuda/toolkit/blas.h"
#include "core/backends/cuda/toolkit/dnn.h"
#include "core/backends/cuda/toolkit/driver_gpu.h"

namespace halftone::backends::cuda {
namespace {

Result<std::shared_ptr<Gpu>> firstGpu()
{
    HALFTONE_TRY(const DriverCalls calls, loadDriver());
    HALFTONE_TRY(std::shared_ptr<const Compiler> compiler, loadNvrtc());
    std::vector<std::shared_ptr<ProductMaker>> makers;
    if (auto blas = loadBlas(); blas.ok()) // without it kernels of our own compute products
        makers.push_back(std::move(blas).value());
    if (auto dnn = loadDnn(); dnn.ok())
        makers.push_back(std::move(dnn).value());
    return driverGpu(calls, std::move(compiler), std::move(makers));
}

} // namespace

std::vector<BackendEntry> backendEntries(std::string_view name)
{
    const auto gpu = firstGpu();
    if (!gpu.ok()) {
        const std::string why = gpu.error().found;
        return {{.name = std::string(name),
                 .device = {},
                 .why = why.starts_with("no CUDA device") ? why : "no CUDA device: " + why,
                 .make = {}}};
    }
    const GpuInfo &info = gpu.value()->info();
    const auto entry = [&](std::string of, const EmitOptions &options, std::string why) {
        return BackendEntry{.name = std::move(of),
                            .architecture = "sm_" + std::to_string(info.arch),
                            .bandwidth = info.bandwidth(),
                            .device = info.toString(),
                            .why = std::move(why),
                            .makesPlans = true,
                            .make = [gpu = gpu.value(), options](const BackendUse &use) {
                                return cudaBackend(gpu, options, use.fallback);
                            }};
    };
    return {entry(std::string(name), {},
                  "kernels of our own and the maker's libraries; what they lack is computed on the CPU"),
            entry(std::string(name) + "-tf32", {.allowsTf32 = true},
                  "the same, with products of float32 in TF32: 10 bits of mantissa, float32 sums")};
}

} // namespace halftone::backends::cuda
