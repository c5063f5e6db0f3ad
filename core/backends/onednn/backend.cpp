#include "core/backends/onednn/backend.h"

#include "core/backends/machine.h"
#include "core/backends/onednn/element_loops.h"
#include "core/backends/onednn/emulated_kernel.h"
#include "core/backends/onednn/int8_scales.h"
#include "core/backends/onednn/loops/linear_codes.h"
#include "core/backends/onednn/loops/quiet_waits.h"
#include "core/backends/onednn/node_kernel.h"
#include "core/backends/onednn/packed_weights.h"
#include "core/backends/onednn/plan.h"
#include "core/backends/onednn/ranged_kernel.h"
#include "core/backends/onednn/sliced_kernel.h"
#include "core/plan/simplify.h"

#include <optional>
#include <utility>
#include <vector>

namespace halftone::backends::onednn {
namespace {

using tensor::DType;

class OneDnnBackend final : public kernels::Backend
{
public:
    OneDnnBackend(int threads, Waits waits, std::shared_ptr<const kernels::Backend> fallback)
        : m_threads(threads)
        , m_fallback(std::move(fallback))
    {
        if (waits == Waits::Quiet && threads != 1)
            m_quiet.emplace();
    }

    std::string_view name() const override { return "cpu"; }

    kernels::Support support(DType type) const override
    {
        const bool isCode = type == DType::I8 || type == DType::U8;
        if (isEmulated(type) || (isCode && !addsExactly())) // products of codes are computed in float32 then
            return kernels::Support::Emulated;
        return isCode || type == DType::F32 || tensor::isHalf(type) ? kernels::Support::Native
                                                                    : kernels::Support::No;
    }

    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        if (const auto rows = rowsAtATime(operation))
            return slicedKernel(operation, *rows,
                                [this](const kernels::Operation &slice) { return prepareWhole(slice); });
        return prepareWhole(operation);
    }

    Result<std::unique_ptr<kernels::LatencyPlan>> plan(const infer::TypedModel &model,
                                                       const kernels::PlanOptions &options) const override
    {
        kernels::PlanOptions complete = options;
        if (!complete.cache)
            complete.cache = std::make_shared<kernels::PlanCache>();
        complete.cache->beginPlan();
        const plan::Simplification device{.multipliesCodes = addsExactly()};
        HALFTONE_TRY(plan::PlanGraph graph,
                     plan::simplifiedGraph(model, m_fallback.get(), *complete.cache, device, options.bodies));
        return makePlan(std::move(graph), complete, m_threads, m_fallback.get());
    }

private:
    Result<std::unique_ptr<kernels::Kernel>> prepareWhole(const kernels::Operation &operation) const
    {
        if (spreadsNaN(operation)) {
            HALFTONE_TRY(std::unique_ptr<kernels::Kernel> kernel, prepareAsIs(operation));
            return nanLines(operation, m_threads, std::move(kernel));
        }
        if (!losesNaN(operation))
            return prepareAsIs(operation);
        if (auto loop = elementLoop(operation, m_threads))
            return loop;
        if (!m_fallback)
            return unsupported("plan", "a function that loses NaN in oneDNN");
        HALFTONE_TRY(std::unique_ptr<kernels::Kernel> kernel, prepareAsIs(operation));
        HALFTONE_TRY(std::unique_ptr<kernels::Kernel> fallback, m_fallback->prepare(operation));
        return finiteKernel(operation, m_threads, std::move(kernel), std::move(fallback));
    }

    Result<std::unique_ptr<kernels::Kernel>> prepareAsIs(const kernels::Operation &operation) const
    {
        if (auto loop = linearCodeLoop(operation, m_threads))
            return loop;
        if (const auto *cast = operation.op.getIf<ops::Cast>();
            cast && cast->saturates && tensor::isForAnalysis(operation.outputs[0].dtype))
            return unsupported("plan", "a cast that ends at the type's largest number");
        if (operation.op.is<ops::QuantizeLinear>()) // the last bit of a quotient decides between two codes
            return unsupported("plan", "codes as the operator is defined");
        if (auto ranges = m_fallback ? openRanges(operation) : std::vector<std::size_t>(); !ranges.empty())
            return rangedKernel(operation, std::move(ranges), m_threads, *m_fallback);
        HALFTONE_TRY(const std::optional<kernels::Operation> wide, widened(operation));
        if (!wide)
            return nodeKernel(operation, m_threads, &m_packed);
        HALFTONE_TRY(std::unique_ptr<kernels::Kernel> kernel, nodeKernel(*wide, m_threads, nullptr));
        return emulatedKernel(operation, std::move(kernel));
    }

    int m_threads = 0;
    std::shared_ptr<const kernels::Backend> m_fallback;
    std::optional<QuietWaits> m_quiet;
    mutable PackedWeights m_packed; ///< guards itself
};

} // namespace

std::shared_ptr<const kernels::Backend> onednnBackend(int threads, Waits waits,
                                                      std::shared_ptr<const kernels::Backend> fallback)
{
    return std::make_shared<OneDnnBackend>(threads, waits, std::move(fallback));
}

BackendEntry backendEntry(std::string_view name)
{
    return {.name = std::string(name),
            .device = processor(),
            .why = "oneDNN; other operators run on the reference backend",
            .makesPlans = true,
            .make = [](const BackendUse &use) {
                return onednnBackend(static_cast<int>(use.threads), use.isTimed ? Waits::Busy : Waits::Quiet,
                                     use.fallback);
            }};
}

} // namespace halftone::backends::onednn
