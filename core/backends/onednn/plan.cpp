#include "core/runtime/onednn/plan.h"

#include "core/runtime/onednn/backend.h"
#include "core/runtime/onednn/lower.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace halftone::runtime::onednn {
namespace {

class Plan final : public LatencyPlan
{
public:
    Plan(const PlanGraph &graph, const Emitter &emitter, std::unique_ptr<Program> program, int threads)
        : m_program(std::move(program))
        , m_threads(threads)
    {
        for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
            m_inputs.push_back({graph.values[graph.inputs[k]].name, graph.desc(graph.inputs[k])});
            m_inputBuffers.push_back(emitter.inputBuffer(k));
        }
        for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
            m_outputs.push_back({graph.outputNames[k], graph.desc(graph.outputs[k])});
            m_outputBuffers.push_back(emitter.outputBuffer(k));
        }
    }

    std::span<const PlanStep> steps() const override { return m_program->steps(); }
    std::span<const PlanPort> inputs() const override { return m_inputs; }
    std::span<const PlanPort> outputs() const override { return m_outputs; }

    std::span<std::byte> input(std::size_t k) override
    {
        return {m_program->address(m_inputBuffers[k]), bytesOf(m_inputs[k].desc)};
    }
    std::span<const std::byte> output(std::size_t k) const override
    {
        return {m_program->address(m_outputBuffers[k]), bytesOf(m_outputs[k].desc)};
    }

    Result<void> run(const Progress &progress) override
    {
        const ThreadScope scope(m_threads);
        return m_program->run(progress);
    }

    Result<void> runTimed(std::span<double> microseconds) override
    {
        using Clock = std::chrono::steady_clock;
        const ThreadScope scope(m_threads);
        Clock::time_point before = Clock::now();
        for (std::size_t k = 0; k < m_program->steps().size(); ++k) {
            HALFTONE_CHECK(m_program->runStep(k));
            const Clock::time_point after = Clock::now();
            if (k < microseconds.size())
                microseconds[k] = std::chrono::duration<double, std::micro>(after - before).count();
            before = after;
        }
        return {};
    }

    std::size_t arenaBytes() const override { return m_program->arenaBytes(); }
    std::size_t constantBytes() const override { return m_program->constantBytes(); }
    void poison() override { m_program->poison(); }

private:
    static std::size_t bytesOf(const TensorDesc &desc)
    {
        return static_cast<std::size_t>(*desc.shape.elementCount()) * tensor::sizeOf(desc.dtype);
    }

    std::unique_ptr<Program> m_program;
    std::vector<PlanPort> m_inputs;
    std::vector<PlanPort> m_outputs;
    std::vector<BufferId> m_inputBuffers;
    std::vector<BufferId> m_outputBuffers;
    int m_threads = 0;
};

/// A sum of codes and Requantize behind it become two nodes.
void unfuseRequantize(PlanGraph &graph, std::size_t k)
{
    PlanNode &sum = graph.nodes[k];
    PlanNode requantize{std::move(sum.post[0].op), "_contrib_requantize", sum.members, {}, sum.outputs, {}};
    sum.post.clear();
    const std::string name = graph.values[sum.outputs[0]].name;
    const tensor::Shape shape = graph.desc(sum.outputs[0]).shape;
    sum.outputs
        = {graph.addValue({tensor::DType::I32, shape}, name), graph.addValue({tensor::DType::F32, {1}}, name),
           graph.addValue({tensor::DType::F32, {1}}, name)};
    requantize.inputs = sum.outputs;
    graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(k) + 1, std::move(requantize));
}

/// The node's post-operations become nodes of their own.
void unfuse(PlanGraph &graph, std::size_t k)
{
    if (graph.nodes[k].post[0].op->is<ops::Requantize>())
        return unfuseRequantize(graph, k);
    PlanNode bare = std::move(graph.nodes[k]);
    std::vector<PostOp> posts = std::move(bare.post);
    bare.post.clear();
    const ValueId result = bare.outputs[0];
    ValueId current = graph.addValue(graph.desc(result), graph.values[result].name);
    bare.outputs[0] = current;
    std::vector<PlanNode> nodes;
    const std::vector<std::string> members = bare.members;
    const std::string opName = bare.opName;
    nodes.push_back(std::move(bare));
    for (std::size_t p = 0; p < posts.size(); ++p) {
        const ValueId next
            = p + 1 == posts.size() ? result : graph.addValue(graph.desc(result), graph.values[result].name);
        std::vector<ValueId> inputs{current};
        if (posts[p].operand != kNoValue)
            inputs.push_back(posts[p].operand);
        nodes.push_back({std::move(posts[p].op), opName, members, std::move(inputs), {next}, {}});
        current = next;
    }
    const auto at = graph.nodes.begin() + static_cast<std::ptrdiff_t>(k);
    *at = std::move(nodes.front());
    graph.nodes.insert(at + 1, std::make_move_iterator(nodes.begin() + 1),
                       std::make_move_iterator(nodes.end()));
}

/// A node that oneDNN refused, on the first of `backends` that takes it.
Result<void> lowerToKernel(Emitter &emitter, const PlanNode &node, std::span<const Backend *const> backends,
                           Error refusal)
{
    std::string why = refusal.found;
    for (const Backend *backend : backends) {
        auto kernel = prepareNode(emitter.graph(), node, *backend);
        if (!kernel.ok()) {
            why += "; " + std::string(backend->name()) + ": " + kernel.error().found;
            continue;
        }
        std::vector<BufferId> inputs;
        for (const ValueId value : node.inputs) {
            HALFTONE_TRY(const Place place, emitter.readPlain(value));
            inputs.push_back(place.buffer);
        }
        std::vector<BufferId> outputs;
        for (const ValueId value : node.outputs)
            outputs.push_back(emitter.writePlain(value).buffer);
        emitter.addKernel(std::move(kernel).value(), std::move(inputs), std::move(outputs));
        return {};
    }
    return unsupported(node.members.empty() ? node.opName : node.members[0], why);
}

/// Adds every node; unfuses one that cannot be done whole and says that all must be added again.
Result<bool> lowerAll(Emitter &emitter, PlanGraph &graph, std::span<const Backend *const> backends)
{
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
        emitter.enter(k);
        const auto done = lower(emitter, graph.nodes[k]);
        if (done.ok())
            continue;
        if (done.error().code != Errc::Unsupported)
            return done.error();
        if (!graph.nodes[k].post.empty()) {
            unfuse(graph, k);
            return false;
        }
        HALFTONE_CHECK(lowerToKernel(emitter, graph.nodes[k], backends, done.error()));
    }
    return true;
}

Result<std::unique_ptr<Plan>> build(PlanGraph graph, const PlanOptions &options, Format format)
{
    const std::shared_ptr<const Backend> single = onednnBackend(options.threads);
    std::vector<const Backend *> backends{single.get()};
    if (options.fallback != nullptr)
        backends.push_back(options.fallback);
    for (;;) {
        Emitter emitter(graph, options.cache.get(), format);
        HALFTONE_CHECK(emitter.begin());
        HALFTONE_TRY(const bool isWhole, lowerAll(emitter, graph, backends));
        if (!isWhole)
            continue;
        HALFTONE_TRY(std::unique_ptr<Program> program, emitter.finish());
        return std::make_unique<Plan>(graph, emitter, std::move(program), options.threads);
    }
}

/// What the better layout depends on: the convolutions' weights, the inputs' shapes, and whether most of them compute in
/// 16 bit. An edit that changes one layer's type leaves the answer standing, even where casts keep a stride from sinking
/// into the layer before and convolutions get other pictures. Empty without convolutions.
std::string geometry(const PlanGraph &graph)
{
    std::vector<std::string> weights;
    std::size_t narrow = 0;
    for (const PlanNode &node : graph.nodes) {
        if (!node.op->is<ops::Conv>())
            continue;
        narrow += tensor::isHalf(graph.desc(node.inputs[0]).dtype) ? 1 : 0;
        weights.push_back(graph.desc(node.inputs[1]).shape.toString());
    }
    if (weights.empty())
        return {};
    std::ranges::sort(weights); // fusion may change their order
    std::string key = "layout" + std::to_string(2 * narrow > weights.size());
    for (const std::string &shape : weights)
        key += shape;
    for (const ValueId input : graph.inputs)
        key += graph.desc(input).shape.toString();
    return key;
}

/// The best of a few runs, in microseconds.
Result<double> bestTime(Plan &plan)
{
    constexpr int kRuns = 4;
    double best = 0;
    for (int k = 0; k < kRuns; ++k) {
        const auto before = std::chrono::steady_clock::now();
        HALFTONE_CHECK(plan.run({}));
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - before;
        best = k == 0 ? time.count() : std::min(best, time.count());
    }
    return best;
}

} // namespace

Result<std::unique_ptr<LatencyPlan>> makePlan(PlanGraph graph, const PlanOptions &options)
{
    const ThreadScope scope(options.threads);
    const bool measures = options.layout == PlanLayout::Measured;
    const std::string key = measures ? geometry(graph) : std::string();
    std::unique_ptr<Plan> made;
    Format format = options.layout == PlanLayout::ChannelsLast ? Format::ChannelsLast : Format::Blocked;
    if (!key.empty() && options.cache) {
        // Neither layout is always the faster one: measured once for a network and kept.
        const auto measure = [&]() -> Result<std::shared_ptr<const Format>> {
            HALFTONE_TRY(std::unique_ptr<Plan> blocked, build(graph, options, Format::Blocked));
            HALFTONE_TRY(std::unique_ptr<Plan> last, build(graph, options, Format::ChannelsLast));
            HALFTONE_TRY(const double blockedTime, bestTime(*blocked));
            HALFTONE_TRY(const double lastTime, bestTime(*last));
            const bool isBlockedBest = blockedTime <= lastTime;
            made = std::move(isBlockedBest ? blocked : last);
            return std::make_shared<const Format>(isBlockedBest ? Format::Blocked : Format::ChannelsLast);
        };
        HALFTONE_TRY(const std::shared_ptr<const Format> chosen,
                     options.cache->get<Format>(key, {}, measure));
        format = *chosen;
    }
    if (!made) {
        HALFTONE_TRY(made, build(std::move(graph), options, format));
    }
    return std::unique_ptr<LatencyPlan>(std::move(made));
}

} // namespace halftone::runtime::onednn
