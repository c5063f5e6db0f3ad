#include "core/backends/cuda/plan.h"

#include "core/plan/plan_edit.h"

#include <algorithm>
#include <utility>

namespace halftone::backends::cuda {
namespace {

class Plan final : public kernels::LatencyPlan
{
public:
    Plan(const plan::PlanGraph &graph, std::unique_ptr<Program> program)
        : m_program(std::move(program))
    {
        for (const plan::ValueId value : graph.inputs)
            m_inputs.push_back({graph.values[value].name, graph.desc(value)});
        for (std::size_t k = 0; k < graph.outputs.size(); ++k)
            m_outputs.push_back({k < graph.outputNames.size() ? graph.outputNames[k] : std::string(),
                                 graph.desc(graph.outputs[k])});
    }

    std::span<const kernels::PlanStep> steps() const override { return m_program->steps(); }
    std::span<const kernels::PlanPort> inputs() const override { return m_inputs; }
    std::span<const kernels::PlanPort> outputs() const override { return m_outputs; }
    std::span<std::byte> input(std::size_t k) override { return m_program->inputMemory(k); }
    std::span<const std::byte> output(std::size_t k) const override { return m_program->outputMemory(k); }
    Result<void> run(const Progress &progress) override { return m_program->run(progress); }
    Result<std::vector<std::vector<double>>> timeSteps(std::size_t runs, const Progress &progress) override
    {
        std::vector<std::vector<double>> times;
        for (std::size_t run = 0; run < runs; ++run) {
            HALFTONE_CHECK(progress.checkStop());
            HALFTONE_CHECK(m_program->runTimed(times.emplace_back(steps().size())));
        }
        return times;
    }
    Result<std::optional<double>> runOnDevice() override { return m_program->runOnDevice(); }
    std::optional<kernels::Launches> launches() const override { return m_program->launches(); }
    std::optional<std::size_t> arenaBytes() const override { return m_program->arenaBytes(); }
    std::optional<std::size_t> constantBytes() const override { return m_program->constantBytes(); }

private:
    std::unique_ptr<Program> m_program;
    std::vector<kernels::PlanPort> m_inputs;
    std::vector<kernels::PlanPort> m_outputs;
};

/// The node's post-operations become nodes of their own.
void unfuse(plan::PlanGraph &graph, std::size_t k)
{
    plan::PlanNode bare = std::move(graph.nodes[k]);
    const std::vector<plan::PostOp> posts = std::exchange(bare.post, {});
    const plan::ValueId result = bare.outputs[0];
    const auto another = [&] { return graph.addValue(graph.desc(result), graph.values[result].name); };
    plan::ValueId current = another();
    bare.outputs[0] = current;
    std::vector<plan::PlanNode> nodes;
    for (std::size_t p = 0; p < posts.size(); ++p) {
        const plan::ValueId next = p + 1 == posts.size() ? result : another();
        std::vector<plan::ValueId> inputs{current};
        if (posts[p].operand != plan::kNoValue)
            inputs.push_back(posts[p].operand);
        nodes.push_back({posts[p].op, bare.opName, bare.members, std::move(inputs), {next}, {}});
        current = next;
    }
    const auto at = graph.nodes.begin() + static_cast<std::ptrdiff_t>(k);
    *at = std::move(bare);
    graph.nodes.insert(at + 1, std::make_move_iterator(nodes.begin()), std::make_move_iterator(nodes.end()));
}

/// A node that has no kernel on the device.
Result<void> lowerToHost(Emitter &emitter, const kernels::Backend *fallback, const Error &refusal)
{
    const plan::PlanNode &node = emitter.node();
    const std::string where = node.members.empty() ? node.opName : node.members.front();
    if (fallback == nullptr)
        return unsupported(where, refusal.found);
    auto kernel = plan::prepareNode(emitter.graph(), node, *fallback);
    if (!kernel.ok() && kernel.error().code == Errc::NoMemory)
        return std::move(kernel).error();
    if (!kernel.ok())
        return unsupported(
            where, refusal.found + "; " + std::string(fallback->name()) + ": " + kernel.error().found);
    std::vector<BufferId> inputs;
    inputs.reserve(node.inputs.size());
    for (const plan::ValueId value : node.inputs) {
        HALFTONE_TRY(const BufferId buffer, emitter.readRows(value));
        inputs.push_back(buffer);
    }
    std::vector<BufferId> outputs;
    outputs.reserve(node.outputs.size());
    for (const plan::ValueId value : node.outputs)
        outputs.push_back(emitter.writeRows(value));
    emitter.program().addHostKernel(emitter.stepOf(node), std::move(kernel).value(), inputs, outputs);
    return {};
}

/// Adds every node. returns  false where a node had to be taken apart, after which all must be added again
Result<bool> lowerAll(Emitter &emitter, plan::PlanGraph &graph, const kernels::Backend *fallback)
{
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
        if (emitter.isAbsorbed(k))
            continue;
        emitter.enter(k);
        const auto done = lower(emitter);
        if (done.ok())
            continue;
        if (done.error().code != Errc::Unsupported)
            return done.error();
        if (!graph.nodes[k].post.empty() && !graph.nodes[k].post[0].op.is<ops::Requantize>()) {
            unfuse(graph, k);
            return false;
        }
        if (!graph.nodes[k].parts.empty()) {
            plan::unfold(graph, k);
            return false;
        }
        HALFTONE_CHECK(lowerToHost(emitter, fallback, done.error()));
    }
    return true;
}

} // namespace

Result<std::unique_ptr<kernels::LatencyPlan>> makePlan(plan::PlanGraph graph, const std::shared_ptr<Gpu> &gpu,
                                                       EmitOptions options, const kernels::Backend *fallback)
{
    const std::scoped_lock lock(gpu->turn()); // libraries are asked while nodes are lowered
    std::unique_ptr<Emitter> emitter;
    for (;;) {
        // Those before it stay until it is whole: what libraries prepared is shared, not prepared again.
        std::unique_ptr<Emitter> before = std::exchange(emitter, nullptr);
        emitter = std::make_unique<Emitter>(graph, gpu, options);
        HALFTONE_TRY(const bool isWhole, lowerAll(*emitter, graph, fallback));
        if (!isWhole)
            continue;
        before.reset();
        HALFTONE_TRY(std::unique_ptr<Program> program, emitter->finish());
        return std::unique_ptr<kernels::LatencyPlan>(std::make_unique<Plan>(graph, std::move(program)));
    }
}

} // namespace halftone::backends::cuda
