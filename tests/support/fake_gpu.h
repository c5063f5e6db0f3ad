#pragma once

#include "core/backends/backend_entry.h"
#include "core/infer/typed_model.h"
#include "core/kernels/latency_plan.h"
#include "core/plan/plan_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace halftone::test {

/// What a GPU looks like to all that is behind the table of backends: a device with an architecture, a memory and a clock of its own.
/// Its plans compute nothing and take, by that clock, what kMicroseconds and speedOf() say, while the wall clock runs as it likes; its
/// single operators are the reference's, but for ReLU, which it rounds to quarters.
inline constexpr double kMicroseconds = 12; ///< a convolution, product or sum in float32; all else takes none

/// How many times as fast as in float32.
template <class Op>
double speedOf(const Op &op, tensor::DType type)
{
    const bool isConv = op.template is<ops::Conv>();
    const bool isElementwise = op.template is<ops::Binary>();
    return type == tensor::DType::F16 ? (isConv              ? 4
                                             : isElementwise ? 2
                                                             : 8)
        : type == tensor::DType::BF16 ? (isConv              ? 3
                                             : isElementwise ? 1.5
                                                             : 6)
                                      : 1;
}

class FakeGpuPlan final : public kernels::LatencyPlan
{
public:
    explicit FakeGpuPlan(const plan::PlanGraph &graph)
    {
        for (const plan::PlanNode &node : graph.nodes)
            add(graph, node);
        for (const plan::ValueId value : graph.inputs) {
            m_inputs.push_back({graph.values[value].name, graph.desc(value)});
            m_fed.emplace_back(bytesOf(graph.desc(value)));
        }
        for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
            m_outputs.push_back({graph.outputNames[k], graph.desc(graph.outputs[k])});
            m_results.emplace_back(bytesOf(graph.desc(graph.outputs[k])));
        }
    }

    std::span<const kernels::PlanStep> steps() const override { return m_steps; }
    std::span<const kernels::PlanPort> inputs() const override { return m_inputs; }
    std::span<const kernels::PlanPort> outputs() const override { return m_outputs; }
    std::span<std::byte> input(std::size_t k) override { return m_fed[k]; }
    std::span<const std::byte> output(std::size_t k) const override { return m_results[k]; }
    Result<void> run(const Progress &) override { return {}; }
    Result<std::vector<std::vector<double>>> timeSteps(std::size_t runs, const Progress &) override
    {
        return std::vector<std::vector<double>>(runs, m_microseconds);
    }
    Result<std::optional<double>> runOnDevice() override
    {
        double sum = 0;
        for (const double one : m_microseconds)
            sum += one;
        return std::optional<double>(sum / 1000);
    }
    std::optional<kernels::Launches> launches() const override
    {
        return kernels::Launches{m_steps.size(), m_steps.size() + 2};
    }
    std::optional<std::size_t> arenaBytes() const override { return 0; }
    std::optional<std::size_t> constantBytes() const override { return 0; }

private:
    static std::size_t bytesOf(const kernels::TensorDesc &desc)
    {
        return static_cast<std::size_t>(*desc.shape.elementCount()) * tensor::sizeOf(desc.dtype);
    }

    void add(const plan::PlanGraph &graph, const plan::PlanNode &node)
    {
        kernels::PlanStep step{node.members, node.opName, graph.desc(node.inputs[0]).dtype, "fake",
                               node.op.is<ops::Cast>() ? kernels::StepKind::Cast
                                                       : kernels::StepKind::Compute};
        for (const auto &values : {node.inputs, node.outputs})
            for (const plan::ValueId value : values)
                step.bytes += static_cast<double>(bytesOf(graph.desc(value)));
        const bool isTimed
            = node.op.is<ops::Conv>() || node.op.is<ops::FullyConnected>() || node.op.is<ops::Binary>();
        m_microseconds.push_back(isTimed ? kMicroseconds / speedOf(node.op, step.dtype) : 0);
        m_steps.push_back(std::move(step));
    }

    std::vector<kernels::PlanStep> m_steps;
    std::vector<double> m_microseconds; ///< by step
    std::vector<kernels::PlanPort> m_inputs;
    std::vector<kernels::PlanPort> m_outputs;
    std::vector<std::vector<std::byte>> m_fed;
    std::vector<std::vector<std::byte>> m_results;
};

/// ReLU in quarters.
class QuarterRelu final : public kernels::Kernel
{
public:
    explicit QuarterRelu(std::int64_t count)
        : m_count(count)
    {
    }
    std::string name() const override { return "fake"; }
    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const from = reinterpret_cast<const float *>(inputs[0]);
        std::transform(from, from + m_count, reinterpret_cast<float *>(outputs[0]),
                       [](float x) { return std::round(4 * std::max(x, 0.0F)) / 4; });
        return {};
    }

private:
    std::int64_t m_count;
};

class FakeGpuBackend final : public kernels::Backend
{
public:
    explicit FakeGpuBackend(std::shared_ptr<const kernels::Backend> fallback)
        : m_fallback(std::move(fallback))
    {
    }
    std::string_view name() const override { return "fake-gpu"; }
    kernels::Support support(tensor::DType type) const override
    {
        constexpr std::array kNative{tensor::DType::F32, tensor::DType::F16, tensor::DType::BF16};
        return std::ranges::find(kNative, type) == kNative.end() ? kernels::Support::No
                                                                 : kernels::Support::Native;
    }
    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        const auto *const activation = operation.op.getIf<ops::Activation>();
        if (!activation || activation->kind != ops::UnaryKind::Relu
            || operation.inputs[0].dtype != tensor::DType::F32)
            return m_fallback->prepare(operation);
        return std::unique_ptr<kernels::Kernel>(
            std::make_unique<QuarterRelu>(*operation.inputs[0].shape.elementCount()));
    }
    Result<std::unique_ptr<kernels::LatencyPlan>> plan(const infer::TypedModel &model,
                                                       const kernels::PlanOptions &) const override
    {
        HALFTONE_TRY(const plan::PlanGraph graph, plan::buildPlanGraph(model));
        return std::unique_ptr<kernels::LatencyPlan>(std::make_unique<FakeGpuPlan>(graph));
    }

private:
    std::shared_ptr<const kernels::Backend> m_fallback;
};

/// What the fake tells of itself: the units of an H100 with an H200's memory.
inline constexpr double kFakeBandwidth = 4917;
inline const char *const kFakeDevice = "Fake GPU (sm_90)";

/// Adds it to the table of backends. Needs: nobody has asked for backends so far.
inline bool addFakeGpu()
{
    return backends::addBackend({.name = "fake-gpu",
                                 .architecture = "sm_90",
                                 .bandwidth = kFakeBandwidth,
                                 .device = kFakeDevice,
                                 .why = "a test's",
                                 .makesPlans = true,
                                 .make = [](const backends::BackendUse &use) {
                                     return std::make_shared<FakeGpuBackend>(use.fallback);
                                 }});
}

} // namespace halftone::test
