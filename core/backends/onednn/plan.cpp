#include "core/backends/onednn/plan.h"

#include "core/backends/onednn/backend.h"
#include "core/backends/onednn/lower.h"
#include "core/base/share_work.h"
#include "core/plan/plan_edit.h"
#include "core/plan/simplify.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace halftone::backends::onednn {
namespace {

class Plan final : public kernels::LatencyPlan
{
public:
    Plan(const plan::PlanGraph &graph, const Emitter &emitter, std::unique_ptr<Program> program, int threads)
        : m_program(std::move(program))
        , m_layout(emitter.format() == Format::ChannelsLast ? kernels::PlanLayout::ChannelsLast
                                                            : kernels::PlanLayout::Blocked)
        , m_threads(threads)
    {
        for (std::size_t k = 0; k < graph.inputs.size(); ++k) {
            m_inputs.push_back({graph.values[graph.inputs[k]].name, graph.desc(graph.inputs[k])});
            m_inputBuffers.push_back(emitter.inputBuffer(k));
            std::ranges::fill(input(k),
                              std::byte{0}); // whoever runs it before writing them reads no leftovers
        }
        for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
            m_outputs.push_back({graph.outputNames[k], graph.desc(graph.outputs[k])});
            m_outputBuffers.push_back(emitter.outputBuffer(k));
        }
    }

    std::span<const kernels::PlanStep> steps() const override { return m_program->steps(); }
    kernels::PlanLayout layout() const override { return m_layout; }
    std::span<const kernels::PlanPort> inputs() const override { return m_inputs; }
    std::span<const kernels::PlanPort> outputs() const override { return m_outputs; }

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

    Result<std::vector<std::vector<double>>> timeSteps(std::size_t runs, const Progress &progress) override
    {
        const ThreadScope scope(m_threads);
        std::vector<std::vector<double>> times;
        for (std::size_t run = 0; run < runs; ++run) {
            HALFTONE_CHECK(progress.checkStop());
            HALFTONE_CHECK(timeOnce(times.emplace_back()));
        }
        return times;
    }

    std::optional<std::size_t> arenaBytes() const override { return m_program->arenaBytes(); }
    std::optional<std::size_t> constantBytes() const override { return m_program->constantBytes(); }

private:
    static std::size_t bytesOf(const kernels::TensorDesc &desc)
    {
        return static_cast<std::size_t>(*desc.shape.elementCount()) * tensor::sizeOf(desc.dtype);
    }

    Result<void> timeOnce(std::vector<double> &microseconds)
    {
        using Clock = std::chrono::steady_clock;
        microseconds.resize(m_program->steps().size());
        Clock::time_point before = Clock::now();
        for (std::size_t k = 0; k < microseconds.size(); ++k) {
            HALFTONE_CHECK(m_program->runStep(k));
            const Clock::time_point after = Clock::now();
            microseconds[k] = std::chrono::duration<double, std::micro>(after - before).count();
            before = after;
        }
        return {};
    }

    std::unique_ptr<Program> m_program;
    kernels::PlanLayout m_layout;
    std::vector<kernels::PlanPort> m_inputs;
    std::vector<kernels::PlanPort> m_outputs;
    std::vector<BufferId> m_inputBuffers;
    std::vector<BufferId> m_outputBuffers;
    int m_threads = 0;
};

/// A sum of codes and Requantize behind it become two nodes.
void unfuseRequantize(plan::PlanGraph &graph, std::size_t k)
{
    plan::PlanNode &sum = graph.nodes[k];
    plan::PlanNode requantize{std::move(sum.post[0].op), "requantize", sum.members, {}, sum.outputs, {}};
    sum.post.clear();
    const std::string name = graph.values[sum.outputs[0]].name;
    const tensor::Shape shape = graph.desc(sum.outputs[0]).shape;
    sum.outputs
        = {graph.addValue({tensor::DType::I32, shape}, name), graph.addValue({tensor::DType::F32, {1}}, name),
           graph.addValue({tensor::DType::F32, {1}}, name)};
    requantize.inputs = sum.outputs;
    graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(k) + 1, std::move(requantize));
}

/// The last post-operation that reads another tensor becomes a node of its own, which does what follows it, too; where there is none, the last
/// function does.
void unfuse(plan::PlanGraph &graph, std::size_t k)
{
    if (graph.nodes[k].post[0].op.is<ops::Requantize>())
        return unfuseRequantize(graph, k);
    plan::PlanNode &host = graph.nodes[k];
    const auto last = std::find_if(host.post.rbegin(), host.post.rend(),
                                   [](const plan::PostOp &post) { return post.operand != plan::kNoValue; });
    const auto cut = last == host.post.rend() ? host.post.end() - 1 : last.base() - 1;
    const plan::ValueId result = host.outputs[0];
    const plan::ValueId between = graph.addValue(graph.desc(result), std::string(graph.values[result].name));
    plan::PlanNode own{std::move(cut->op), host.opName, host.members, {between}, {result}, {}};
    if (cut->operand != plan::kNoValue)
        own.inputs.push_back(cut->operand);
    own.post.assign(std::make_move_iterator(cut + 1), std::make_move_iterator(host.post.end()));
    host.post.erase(cut, host.post.end());
    host.outputs[0] = between;
    if (!host.parts.empty()) // the last of them still writes what the post-operations were taken from
        host.parts.back().outputs[0] = between;
    graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(k) + 1, std::move(own));
}

/// Do two nodes the same to tensors of the same types and shapes?
bool doTheSame(const plan::PlanGraph &graph, const plan::PlanNode &a, const plan::PlanNode &b)
{
    const auto areSame = [&graph](plan::ValueId one, plan::ValueId other) {
        return one == other
            || (one != plan::kNoValue && other != plan::kNoValue && graph.desc(one) == graph.desc(other)
                && graph.isConstant(one) == graph.isConstant(other));
    };
    return a.op == b.op && std::ranges::equal(a.inputs, b.inputs, areSame)
        && std::ranges::equal(a.outputs, b.outputs, areSame)
        && std::ranges::equal(a.post, b.post, [&](const plan::PostOp &one, const plan::PostOp &other) {
               return one.op == other.op && areSame(one.operand, other.operand);
           });
}

/// Node `k` and what is like it: each of them would be refused, too.
void unfuseAlike(plan::PlanGraph &graph, std::size_t k)
{
    const plan::PlanNode refused = graph.nodes[k];
    for (std::size_t other = graph.nodes.size(); other-- > k;)
        if (doTheSame(graph, graph.nodes[other], refused))
            unfuse(graph, other);
}

/// Is any step of the node, from `first` on, oneDNN's reference kernel?
bool fellToReference(const Emitter &emitter, const plan::PlanNode &node, std::size_t first)
{
    return std::ranges::any_of(emitter.steps().subspan(first), [&node](const kernels::PlanStep &step) {
        return step.kind == kernels::StepKind::Compute && isReference(step.kernel)
            && step.nodes == node.members;
    });
}

/// A node that oneDNN refused, on the first of `backends` that takes it.
Result<void> lowerToKernel(Emitter &emitter, const plan::PlanNode &node,
                           std::span<const kernels::Backend *const> backends, const Error &refusal)
{
    std::string why = refusal.found;
    for (const kernels::Backend *backend : backends) {
        auto kernel = plan::prepareNode(emitter.graph(), node, *backend);
        if (!kernel.ok() && kernel.error().code == Errc::NoMemory)
            return std::move(kernel).error();
        if (!kernel.ok()) {
            why += "; " + std::string(backend->name()) + ": " + kernel.error().found;
            continue;
        }
        std::vector<BufferId> inputs;
        for (const plan::ValueId value : node.inputs) {
            HALFTONE_TRY(const Place place, emitter.readPlain(value));
            inputs.push_back(place.buffer);
        }
        std::vector<BufferId> outputs;
        for (const plan::ValueId value : node.outputs)
            outputs.push_back(emitter.writePlain(value).buffer);
        emitter.addKernel(std::move(kernel).value(), std::move(inputs), std::move(outputs));
        return {};
    }
    return unsupported(node.members.empty() ? node.opName : node.members[0], why);
}

/// Adds every node; unfuses one that cannot be done whole and says that all must be added again.
Result<bool> lowerAll(Emitter &emitter, plan::PlanGraph &graph,
                      std::span<const kernels::Backend *const> backends)
{
    for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
        emitter.enter(k);
        const std::size_t steps = emitter.steps().size();
        const auto done = lower(emitter, graph.nodes[k]);
        // A kernel that takes all post-operations is worth nothing where it is the reference one.
        const bool isFused = !graph.nodes[k].post.empty();
        if (done.ok() && !(isFused && fellToReference(emitter, graph.nodes[k], steps)))
            continue;
        if (!done.ok() && done.error().code != Errc::Unsupported)
            return done.error();
        if (isFused) {
            unfuseAlike(graph, k);
            return false;
        }
        if (!graph.nodes[k].parts.empty()) {
            plan::unfold(graph, k);
            return false;
        }
        HALFTONE_CHECK(lowerToKernel(emitter, graph.nodes[k], backends, done.error()));
    }
    return true;
}

/// Weights that were codes in a chain are decoded once, by the first of `backends` that can.
Result<void> foldUnfolded(plan::PlanGraph &graph, std::span<const kernels::Backend *const> backends)
{
    kernels::PlanCache cache;
    for (const kernels::Backend *backend : backends)
        HALFTONE_CHECK(plan::foldConstants(graph, backend, cache));
    return {};
}

/// What a plan is made with.
struct Means
{
    kernels::PlanCache *cache = nullptr; ///< may be null
    int threads = 0;
    const kernels::Backend *fallback = nullptr; ///< may be null
};

Result<std::unique_ptr<Plan>> planOf(plan::PlanGraph graph, const Means &means, Format format)
{
    const std::shared_ptr<const kernels::Backend> single = onednnBackend(means.threads);
    std::vector<const kernels::Backend *> backends{single.get()};
    if (means.fallback != nullptr)
        backends.push_back(means.fallback);
    for (;;) {
        Emitter emitter(graph, means.cache, format);
        emitter.allowOwnConvolutions();
        HALFTONE_CHECK(emitter.begin());
        HALFTONE_TRY(const bool isWhole, lowerAll(emitter, graph, backends));
        if (!isWhole) {
            HALFTONE_CHECK(foldUnfolded(graph, backends));
            continue;
        }
        HALFTONE_TRY(std::unique_ptr<Program> program, emitter.finish());
        return std::make_unique<Plan>(graph, emitter, std::move(program), means.threads);
    }
}

Result<std::unique_ptr<Plan>> build(const plan::PlanGraph &graph, const Means &means, Format format)
{
    return contained("plan", [&] { return planOf(graph, means, format); });
}

constexpr std::array kFormats{Format::Blocked, Format::ChannelsLast}; // that are to be compared

/// In both layouts, side by side: most of it is work of one thread.
std::array<Result<std::unique_ptr<Plan>>, kFormats.size()> buildBoth(const plan::PlanGraph &graph,
                                                                     const Means &means)
{
    std::array<Result<std::unique_ptr<Plan>>, kFormats.size()> built{std::unique_ptr<Plan>(),
                                                                     std::unique_ptr<Plan>()};
    shareParts(means.threads == 1 ? 1 : 2, built.size(), [&](std::size_t k, unsigned) {
        const ThreadScope scope(means.threads);
        built.at(k) = build(graph, means, kFormats.at(k));
        return true;
    });
    return built;
}

/// What the better layout depends on: the convolutions' weights, the inputs' shapes, and how many of them compute in 16 bit: none, to the
/// next eighth up to half, or more. An edit that changes one layer's type mostly leaves the answer standing, even where casts keep a stride from
/// sinking into the layer before and convolutions get other pictures. Empty without convolutions.
std::string geometry(const plan::PlanGraph &graph)
{
    std::vector<std::string> weights;
    std::size_t narrow = 0;
    for (const plan::PlanNode &node : graph.nodes) {
        if (!node.op.is<ops::Conv>())
            continue;
        narrow += tensor::isHalf(graph.desc(node.inputs[0]).dtype) ? 1 : 0;
        weights.push_back(graph.desc(node.inputs[1]).shape.toString());
    }
    if (weights.empty())
        return {};
    std::ranges::sort(weights); // fusion may change their order
    const std::size_t eighths = (8 * narrow + weights.size() - 1) / weights.size();
    std::string key = "layout" + std::to_string(std::min<std::size_t>(eighths, 5));
    for (const std::string &shape : weights)
        key += shape;
    for (const plan::ValueId input : graph.inputs)
        key += graph.desc(input).shape.toString();
    return key;
}

/// The place of the plan whose best run is the shortest. They take turns: a disturbance meets all.
Result<std::size_t> fastestOf(std::span<const std::unique_ptr<Plan>> plans)
{
    using Clock = std::chrono::steady_clock;
    constexpr int kFewestRuns = 4; // the first ones touch memory for the first time
    constexpr int kMostRuns = 10;
    constexpr std::chrono::milliseconds kEnough{50};
    const Clock::time_point begin = Clock::now();
    std::vector<Clock::duration> best(plans.size(), Clock::duration::max());
    for (int run = 0; run < kFewestRuns || (run < kMostRuns && Clock::now() - begin < kEnough); ++run) {
        for (std::size_t k = 0; k < plans.size(); ++k) {
            const Clock::time_point before = Clock::now();
            HALFTONE_CHECK(plans[k]->run({}));
            best[k] = std::min(best[k], Clock::now() - before);
        }
    }
    return static_cast<std::size_t>(std::ranges::min_element(best) - best.begin());
}

} // namespace

Result<std::unique_ptr<kernels::LatencyPlan>> makePlan(plan::PlanGraph graph,
                                                       const kernels::PlanOptions &options, int threads,
                                                       const kernels::Backend *fallback)
{
    const ThreadScope scope(threads);
    const Means means{options.cache.get(), threads, fallback};
    const bool measures = options.layout == kernels::PlanLayout::Measured;
    const std::string key = measures ? geometry(graph) : std::string();
    std::unique_ptr<Plan> made;
    Format format
        = options.layout == kernels::PlanLayout::ChannelsLast ? Format::ChannelsLast : Format::Blocked;
    if (!key.empty() && options.cache) {
        // Neither layout is always the faster one: measured once for a network and kept.
        const auto measure = [&]() -> Result<std::shared_ptr<const Format>> {
            auto built = buildBoth(graph, means);
            std::array<std::unique_ptr<Plan>, kFormats.size()> plans;
            for (std::size_t k = 0; k < plans.size(); ++k) {
                HALFTONE_TRY(plans.at(k), std::move(built.at(k)));
            }
            if (options.beforeTiming)
                options.beforeTiming();
            for (const std::unique_ptr<Plan> &plan : plans)
                if (options.feed)
                    HALFTONE_CHECK(options.feed(*plan));
            HALFTONE_TRY(const std::size_t fastest, fastestOf(plans));
            made = std::move(plans.at(fastest));
            return std::make_shared<const Format>(kFormats.at(fastest));
        };
        HALFTONE_TRY(const std::shared_ptr<const Format> chosen,
                     options.cache->get<Format>(key, {}, measure));
        format = *chosen;
    }
    if (!made) {
        HALFTONE_TRY(made, build(graph, means, format));
    }
    return std::unique_ptr<kernels::LatencyPlan>(std::move(made));
}

} // namespace halftone::backends::onednn
