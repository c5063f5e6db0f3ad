#include "core/backends/cuda/backend.h"

#include "core/backends/cuda/plan.h"
#include "core/backends/cuda/share_products.h"
#include "core/plan/simplify.h"

#include <algorithm>
#include <cstring>

namespace halftone::backends::cuda {
namespace {

using tensor::DType;

/// An operator as a plan of one node: its inputs are copied to the device for each run, and its results back.
class PlanKernel final : public kernels::Kernel
{
public:
    PlanKernel(std::unique_ptr<kernels::LatencyPlan> plan, std::vector<std::size_t> fed)
        : m_plan(std::move(plan))
        , m_fed(std::move(fed))
    {
    }

    std::string name() const override
    {
        const auto steps = m_plan->steps();
        const auto own = std::ranges::find(steps, kernels::StepKind::Compute, &kernels::PlanStep::kind);
        return own == steps.end() ? "cuda" : own->kernel;
    }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        for (std::size_t k = 0; k < m_fed.size(); ++k) {
            const std::span<std::byte> to = m_plan->input(k);
            if (!to.empty())
                std::memcpy(to.data(), inputs[m_fed[k]], to.size());
        }
        HALFTONE_CHECK(m_plan->run());
        for (std::size_t k = 0; k < m_plan->outputs().size(); ++k) {
            const std::span<const std::byte> from = m_plan->output(k);
            if (outputs[k] != nullptr && !from.empty())
                std::memcpy(outputs[k], from.data(), from.size());
        }
        return {};
    }

private:
    std::unique_ptr<kernels::LatencyPlan> m_plan;
    std::vector<std::size_t> m_fed; ///< by input of the plan: which of the operation
};

class CudaBackend final : public kernels::Backend
{
public:
    CudaBackend(std::shared_ptr<Gpu> gpu, EmitOptions options,
                std::shared_ptr<const kernels::Backend> fallback)
        : m_gpu(std::move(gpu))
        , m_options(options)
        , m_fallback(std::move(fallback))
    {
    }

    std::string_view name() const override { return m_options.allowsTf32 ? "cuda-tf32" : "cuda"; }

    kernels::Support support(DType type) const override
    {
        const int arch = m_gpu->info().arch;
        switch (type) {
        case DType::F32:
        case DType::F16:
        case DType::F64:
            return kernels::Support::Native;
        case DType::BF16:
            return arch >= 80 ? kernels::Support::Native : kernels::Support::Emulated;
        case DType::I8:
        case DType::U8: // chains on codes (lower_codes.cpp); tensor cores have had them since sm_72
            return arch >= 75 ? kernels::Support::Native : kernels::Support::Emulated;
        default:
            return kernels::Support::No;
        }
    }

    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        if (tensor::isHalf(operation.accumulator))
            return unsupported("plan", "sums that are rounded at each step");
        plan::PlanGraph graph = plan::singleNode(operation);
        std::vector<std::size_t> fed;
        for (std::size_t k = 0; k < operation.inputs.size(); ++k)
            if (!operation.isConstant(k))
                fed.push_back(k);
        HALFTONE_TRY(std::unique_ptr<kernels::LatencyPlan> plan,
                     makePlan(std::move(graph), m_gpu, m_options, nullptr));
        return std::unique_ptr<kernels::Kernel>(
            std::make_unique<PlanKernel>(std::move(plan), std::move(fed)));
    }

    Result<std::unique_ptr<kernels::LatencyPlan>> plan(const infer::TypedModel &model,
                                                       const kernels::PlanOptions &options) const override
    {
        const auto cache = options.cache ? options.cache : std::make_shared<kernels::PlanCache>();
        cache->beginPlan();
        HALFTONE_TRY(
            plan::PlanGraph graph,
            plan::simplifiedGraph(model, m_fallback.get(), *cache,
                                  {.attentionBytes = 0, .foldsFloat16 = true, .narrowsAttention = true},
                                  options.bodies));
        shareProducts(graph);
        return makePlan(std::move(graph), m_gpu, m_options, m_fallback.get());
    }

private:
    std::shared_ptr<Gpu> m_gpu;
    EmitOptions m_options;
    std::shared_ptr<const kernels::Backend> m_fallback;
};

} // namespace

std::shared_ptr<const kernels::Backend> cudaBackend(std::shared_ptr<Gpu> gpu, EmitOptions options,
                                                    std::shared_ptr<const kernels::Backend> fallback)
{
    return std::make_shared<CudaBackend>(std::move(gpu), options, std::move(fallback));
}

} // namespace halftone::backends::cuda
