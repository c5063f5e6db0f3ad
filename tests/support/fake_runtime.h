#pragma once

#include "core/backends/backend_entry.h"
#include "core/backends/backends.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace halftone::test {

/// A plan of this program's that says of itself what a runtime says which has no kernels for 16 bits: every operator runs in float32.
class FakeRuntimePlan final : public kernels::LatencyPlan
{
public:
    explicit FakeRuntimePlan(std::unique_ptr<kernels::LatencyPlan> plan)
        : m_plan(std::move(plan))
        , m_steps(m_plan->steps().begin(), m_plan->steps().end())
    {
        for (kernels::PlanStep &step : m_steps) {
            step.asked = step.dtype;
            step.dtype = tensor::DType::F32;
            step.told = "fake_f32";
        }
    }

    std::span<const kernels::PlanStep> steps() const override { return m_steps; }
    std::span<const kernels::PlanPort> inputs() const override { return m_plan->inputs(); }
    std::span<const kernels::PlanPort> outputs() const override { return m_plan->outputs(); }
    std::span<std::byte> input(std::size_t k) override { return m_plan->input(k); }
    std::span<const std::byte> output(std::size_t k) const override { return m_plan->output(k); }
    Result<void> run(const Progress &progress) override { return m_plan->run(progress); }
    Result<std::vector<std::vector<double>>> timeSteps(std::size_t runs, const Progress &progress) override
    {
        return m_plan->timeSteps(runs, progress);
    }
    std::optional<std::size_t> arenaBytes() const override { return std::nullopt; }
    std::optional<std::size_t> constantBytes() const override { return std::nullopt; }
    std::optional<kernels::RuntimeFacts> runtime() const override
    {
        return kernels::RuntimeFacts{"Fake Runtime", "1.0", "CPU"};
    }

private:
    std::unique_ptr<kernels::LatencyPlan> m_plan;
    std::vector<kernels::PlanStep> m_steps;
};

/// Why it refuses a model; absent: it runs it.
using Refusal = std::function<std::optional<Error>(const infer::TypedModel &)>;

class FakeRuntime final : public kernels::Backend
{
public:
    explicit FakeRuntime(Refusal refusal)
        : m_refusal(std::move(refusal))
    {
    }

    std::string_view name() const override { return "fake-runtime"; }
    kernels::Support support(tensor::DType) const override { return kernels::Support::Native; }
    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        return unsupported(operation.opName, "a runtime computes no single operators");
    }
    Result<std::unique_ptr<kernels::LatencyPlan>> plan(const infer::TypedModel &model,
                                                       const kernels::PlanOptions &options) const override
    {
        if (m_refusal)
            if (auto error = m_refusal(model))
                return *std::move(error);
        HALFTONE_TRY(const auto backend, backends::planningBackend(backends::kDefaultBackend, 1));
        HALFTONE_TRY(auto plan, backend->plan(model, options));
        return std::unique_ptr<kernels::LatencyPlan>(std::make_unique<FakeRuntimePlan>(std::move(plan)));
    }

private:
    Refusal m_refusal;
};

/// Adds it to the table of backends. Needs: nobody has asked for backends so far.
inline bool addFakeRuntime(Refusal refusal = {})
{
    return backends::addBackend({.name = "fake-runtime",
                                 .device = "CPU",
                                 .why = "a test's",
                                 .makesPlans = true,
                                 .wholeModels = true,
                                 .version = "1.0",
                                 .make = [refusal = std::move(refusal)](const backends::BackendUse &) {
                                     return std::make_shared<FakeRuntime>(refusal);
                                 }});
}

} // namespace halftone::test
