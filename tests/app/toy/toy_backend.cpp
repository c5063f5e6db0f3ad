#include "core/backends/backend_entry.h"
#include "core/infer/typed_model.h"
#include "core/kernels/buffer.h"
#include "core/kernels/latency_plan.h"
#include "core/plan/plan_graph.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

/// A device that knows whole numbers only: what a backend has to bring, and all that is written for one. See core/backends/README.md.
namespace {

using namespace halftone;

/// ReLU, rounded: unlike anybody else's.
class WholeRelu final : public kernels::Kernel
{
public:
    explicit WholeRelu(std::int64_t count)
        : m_count(static_cast<std::size_t>(count))
    {
    }

    std::string name() const override { return "toy"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const from = reinterpret_cast<const float *>(inputs[0]);
        std::transform(from, from + m_count, reinterpret_cast<float *>(outputs[0]),
                       [](float x) { return std::round(std::max(x, 0.0F)); });
        return {};
    }

private:
    std::size_t m_count;
};

/// Node after node, each value in a place of its own.
class ToyPlan final : public kernels::LatencyPlan
{
public:
    static Result<std::unique_ptr<kernels::LatencyPlan>>
    make(plan::PlanGraph graph, std::span<const kernels::Backend *const> backends)
    {
        auto made = std::make_unique<ToyPlan>();
        for (const plan::PlanValue &value : graph.values) {
            HALFTONE_TRY(kernels::Buffer buffer, kernels::allocate(value.desc));
            const std::span<const std::byte> constant
                = value.constant ? value.constant->bytes() : std::span<const std::byte>();
            std::fill_n(buffer.bytes, buffer.tensor.bytes().size(), std::byte{0});
            std::ranges::copy(constant, buffer.bytes);
            made->m_values.push_back(std::move(buffer));
        }
        for (const plan::PlanNode &node : graph.nodes)
            HALFTONE_CHECK(made->add(graph, node, backends));
        for (const plan::ValueId value : graph.inputs)
            made->m_inputs.push_back({graph.values[value].name, graph.desc(value)});
        for (std::size_t k = 0; k < graph.outputs.size(); ++k)
            made->m_outputs.push_back({graph.outputNames[k], graph.desc(graph.outputs[k])});
        made->m_graph = std::move(graph);
        return std::unique_ptr<kernels::LatencyPlan>(std::move(made));
    }

    std::span<const kernels::PlanStep> steps() const override { return m_steps; }
    std::span<const kernels::PlanPort> inputs() const override { return m_inputs; }
    std::span<const kernels::PlanPort> outputs() const override { return m_outputs; }

    std::span<std::byte> input(std::size_t k) override
    {
        const kernels::Buffer &value = m_values[m_graph.inputs[k]];
        return {value.bytes, value.tensor.bytes().size()};
    }
    std::span<const std::byte> output(std::size_t k) const override
    {
        return m_values[m_graph.outputs[k]].tensor.bytes();
    }

    Result<void> run(const Progress &) override
    {
        for (std::size_t k = 0; k < m_kernels.size(); ++k)
            HALFTONE_CHECK(runStep(k));
        return {};
    }

    Result<std::vector<std::vector<double>>> timeSteps(std::size_t runs, const Progress &) override
    {
        std::vector<std::vector<double>> times(runs);
        for (std::vector<double> &microseconds : times) {
            for (std::size_t k = 0; k < m_kernels.size(); ++k) {
                const auto before = std::chrono::steady_clock::now();
                HALFTONE_CHECK(runStep(k));
                const std::chrono::duration<double, std::micro> time
                    = std::chrono::steady_clock::now() - before;
                microseconds.push_back(time.count());
            }
        }
        return times;
    }

    std::optional<std::size_t> arenaBytes() const override { return 0; }
    std::optional<std::size_t> constantBytes() const override { return 0; }

private:
    Result<void> add(const plan::PlanGraph &graph, const plan::PlanNode &node,
                     std::span<const kernels::Backend *const> backends)
    {
        for (const kernels::Backend *backend : backends) {
            auto kernel = plan::prepareNode(graph, node, *backend);
            if (!kernel.ok())
                continue;
            m_steps.push_back({node.members, node.opName, graph.desc(node.inputs[0]).dtype,
                               kernel.value()->name(), kernels::StepKind::Compute});
            m_kernels.push_back(std::move(kernel).value());
            return {};
        }
        return unsupported(node.members[0], "nobody computes it");
    }

    Result<void> runStep(std::size_t k)
    {
        const plan::PlanNode &node = m_graph.nodes[k];
        std::vector<const std::byte *> from;
        for (const plan::ValueId value : node.inputs)
            from.push_back(m_values[value].bytes);
        std::vector<std::byte *> to;
        for (const plan::ValueId value : node.outputs)
            to.push_back(m_values[value].bytes);
        return m_kernels[k]->run(from, to);
    }

    plan::PlanGraph m_graph;
    std::vector<kernels::Buffer> m_values; ///< by ValueId
    std::vector<kernels::PlanStep> m_steps; ///< a node each, as the kernels
    std::vector<std::unique_ptr<kernels::Kernel>> m_kernels;
    std::vector<kernels::PlanPort> m_inputs;
    std::vector<kernels::PlanPort> m_outputs;
};

class ToyBackend final : public kernels::Backend
{
public:
    explicit ToyBackend(std::shared_ptr<const kernels::Backend> fallback)
        : m_fallback(std::move(fallback))
    {
    }

    std::string_view name() const override { return "toy"; }

    kernels::Support support(tensor::DType type) const override
    {
        return type == tensor::DType::F32 ? kernels::Support::Native : kernels::Support::No;
    }

    Result<std::unique_ptr<kernels::Kernel>> prepare(const kernels::Operation &operation) const override
    {
        const auto *const activation = operation.op.getIf<ops::Activation>();
        if (!activation || activation->kind != ops::UnaryKind::Relu
            || operation.inputs[0].dtype != tensor::DType::F32)
            return unsupported({}, "a toy computes ReLU of float32");
        return std::unique_ptr<kernels::Kernel>(
            std::make_unique<WholeRelu>(*operation.inputs[0].shape.elementCount()));
    }

    Result<std::unique_ptr<kernels::LatencyPlan>> plan(const infer::TypedModel &model,
                                                       const kernels::PlanOptions &) const override
    {
        HALFTONE_TRY(plan::PlanGraph graph, plan::buildPlanGraph(model));
        return ToyPlan::make(std::move(graph), std::vector<const kernels::Backend *>{this, m_fallback.get()});
    }

private:
    std::shared_ptr<const kernels::Backend> m_fallback;
};

[[maybe_unused]] const bool kIsAdded = backends::addBackend(
    {.name = "toy",
     .device = "a box of bricks",
     .why = "ReLU in whole numbers, the rest by the reference backend",
     .makesPlans = true,
     .make = [](const backends::BackendUse &use) { return std::make_shared<ToyBackend>(use.fallback); }});

} // namespace
