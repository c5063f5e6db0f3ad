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

BackendEntry backendEntry(std::string_view name)
{
    const auto gpu = firstGpu();
    if (!gpu.ok()) {
        const std::string why = gpu.error().found;
        return {.name = std::string(name),
                .device = {},
                .why = why.starts_with("no CUDA device") ? why : "no CUDA device: " + why,
                .make = {}};
    }
    return {.name = std::string(name),
            .device = gpu.value()->info().toString(),
            .why = "kernels of our own and the maker's libraries; what they lack is computed on the CPU",
            .makesPlans = true,
            .make
            = [gpu = gpu.value()](const BackendUse &use) { return cudaBackend(gpu, {}, use.fallback); }};
}

} // namespace halftone::backends::cuda
