#include "core/walks/walk_examples.h"

#include "core/backends/backends.h"
#include "core/base/frugal_memory.h"
#include "core/base/guarded.h"
#include "core/base/share_work.h"
#include "core/graph/traverse.h"
#include "core/infer/shown_outputs.h"
#include "core/walks/batch_walk.h"
#include "core/walks/compare_parts.h"
#include "core/walks/fixed_batch.h"
#include "core/walks/independent_examples.h"
#include "core/walks/work_pool.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace halftone::walks {
namespace {

using graph::NodeId;
using tensor::Tensor;

/// Shows every node's values batch after batch, each on its turn. After a failure the batches behind the failed one give up.
class Showing
{
public:
    Showing(const graph::Graph &graph, const Batches &batches, const ExampleViewer &viewer)
        : m_graph(graph)
        , m_batches(batches)
        , m_viewer(viewer)
        , m_shown(infer::shownOutputs(graph))
        , m_order(graph::postOrder(graph))
        , m_next(graph.nodeCount())
    {
    }

    /// On one worker more threads look at values than on several, which look at their own.
    void lookWith(unsigned threads) { m_pool.emplace(threads); }

    BatchFailure &failure() { return m_failure; }

    Result<void> run(interpret::Interpreter &interpreter, std::size_t k, const interpret::Feed &feed,
                     const Progress &progress)
    {
        for (const NodeId id : m_order) {
            const auto fed = m_graph.isVariable(id) ? feed.find(m_graph.node(id).name) : feed.end();
            if (fed != feed.end())
                HALFTONE_CHECK(show(id, k, std::span(&fed->second, 1)));
        }
        interpret::RunOptions options;
        options.progress = progress;
        options.tap = [&](const interpret::NodeValue &value) {
            return show(value.node, k,
                        value.outputs.first(std::min(m_shown[value.node], value.outputs.size())));
        };
        const auto heads = interpreter.run(feed, options);
        return heads.ok() ? Result<void>() : heads.error();
    }

    Result<void> finish()
    {
        m_pool.reset(); // its tasks tell of their failures
        return m_failure.error() ? Result<void>(*m_failure.error()) : Result<void>();
    }

private:
    Result<void> show(NodeId node, std::size_t batch, std::span<const Tensor> values)
    {
        if (!m_failure.await(batch, [&] { return m_next[node] == batch; }))
            return cancelled(); // an earlier batch failed, and says why
        if (!m_pool)
            return look(node, batch, values);
        std::size_t bytes = 0;
        for (const Tensor &value : values)
            bytes += value.bytes().size();
        const auto task = [this, node, batch, kept = std::vector<Tensor>(values.begin(), values.end())] {
            Result<void> looked = guarded([&] { return look(node, batch, kept); });
            if (!looked.ok())
                m_failure.tell(batch, std::move(looked).error());
            return Result<void>();
        };
        m_pool->submit(task, bytes);
        return {};
    }

    /// On this batch's turn, which is then over.
    Result<void> look(NodeId node, std::size_t batch, std::span<const Tensor> values)
    {
        for (std::uint32_t i = 0; i < values.size(); ++i) {
            HALFTONE_TRY(const Tensor value, kernels::ownPart(values[i], m_batches.filling(batch)));
            m_viewer({node, i, 0}, value, batch + 1 == m_batches.count);
        }
        m_failure.change([&] { ++m_next[node]; });
        return {};
    }

    const graph::Graph &m_graph;
    Batches m_batches;
    const ExampleViewer &m_viewer;
    std::vector<std::size_t> m_shown;
    std::vector<NodeId> m_order;
    std::vector<std::size_t> m_next; ///< by NodeId: the batch whose turn it is
    BatchFailure m_failure; ///< and whoever waits for a turn
    std::optional<WorkPool> m_pool; ///< last: its work uses the others
};

} // namespace

Result<std::size_t> walkExamples(const graph::Model &model, const std::string &modelPath,
                                 const CalibrateOptions &options, const ExampleViewer &viewer,
                                 const Progress &progress)
{
    HALFTONE_TRY(const auto source, openExamples(options.examples, model, modelPath));
    HALFTONE_TRY(const Batches batches, batchesOf(model, *source, options.backend, options.batch));
    HALFTONE_TRY(BatchWalk walk, BatchWalk::create(model, batches, options.backend, options.threads));
    Showing showing(model.graph, batches, viewer);
    const unsigned threads = threadsFor(options.threads);
    if (walk.workers() < threads)
        showing.lookWith(threads);
    walk.run(
        *source,
        [&](interpret::Interpreter &interpreter, std::size_t k, const interpret::Feed &feed,
            const Progress &part) { return showing.run(interpreter, k, feed, part); },
        progress, showing.failure());
    HALFTONE_CHECK(showing.finish());
    return batches.examples;
}

namespace {

/// One run of one example, all of whose values are shown.
Result<void> showEach(const graph::Model &model, interpret::Interpreter &interpreter,
                      interpret::Prepare prepare, const interpret::Feed &feed,
                      const kernels::FilledBatch &filling, const EachViewer &viewer, const Progress &progress)
{
    const auto shown = infer::shownOutputs(model.graph);
    for (const NodeId id : graph::postOrder(model.graph)) {
        const auto fed = model.graph.isVariable(id) ? feed.find(model.graph.node(id).name) : feed.end();
        if (fed != feed.end()) {
            HALFTONE_TRY(const Tensor own, kernels::ownPart(fed->second, filling));
            viewer({id, 0, 0}, own);
        }
    }
    HALFTONE_TRY(interpret::Execution run, interpreter.start(feed, prepare));
    while (!run.isDone()) {
        progress.tell(run.shareDone(), model.graph.node(run.node()).name);
        HALFTONE_TRY(const interpret::NodeValue value, run.step({progress.stop, {}}));
        for (std::uint32_t i = 0; i < std::min(shown[value.node], value.outputs.size()); ++i) {
            HALFTONE_TRY(const Tensor own, kernels::ownPart(value.outputs[i], filling));
            viewer({value.node, i, 0}, own);
        }
    }
    return {};
}

/// How a memory limit is kept.
struct MemoryPlan
{
    unsigned workers = 1;
    interpret::Prepare prepare = interpret::Prepare::Ahead;
    bool isScarce = true; ///< no room for what the C library keeps of large buffers
};

/// What an example takes with all that kernels need for themselves, which nobody says before they have run.
Result<std::size_t> takenBy(interpret::Interpreter &interpreter, const interpret::Feed &feed,
                            const Progress &progress)
{
    const FrugalMemory frugal;
    FrugalMemory::restartPeak();
    HALFTONE_TRY(interpret::Execution run, interpreter.start(feed, interpret::Prepare::Once));
    while (!run.isDone())
        HALFTONE_CHECK(run.step({progress.stop, {}}));
    return FrugalMemory::peakBytes();
}

/// fails: what running the first example refuses; Unsupported where the limit does not hold it
Result<MemoryPlan> memoryPlanOf(const graph::Model &model, const ExampleSource &source,
                                const Batches &batches, const CalibrateOptions &options,
                                const Progress &progress)
{
    HALFTONE_TRY(const kernels::BackendChain backends, backends::backendChain(options.backend, 1));
    HALFTONE_TRY(auto interpreter, interpret::Interpreter::create(model, backends));
    HALFTONE_TRY(const interpret::Feed feed, batches.feed(source, 0));
    HALFTONE_TRY(const interpret::Execution first, interpreter.start(feed, interpret::Prepare::WhenComputed));
    std::size_t each
        = std::max<std::size_t>(first.peakBytes() + interpret::feedBytes(feed) + first.scratchBytes(), 1);
    const std::size_t packed = packedBytes(model);
    const std::size_t limit = options.memoryLimit;
    MemoryPlan plan;
    plan.workers = threadsFor(options.threads);
    if (each > limit)
        return exceedsMemory(limit, batches.size == 0 ? "the inputs" : "one example", each);
    const bool keeps = packed < limit / 2 && each <= limit - packed;
    plan.prepare = keeps ? interpret::Prepare::Ahead : interpret::Prepare::Once;
    if (!keeps && plan.workers > 1) {
        HALFTONE_TRY(const std::size_t taken, takenBy(interpreter, feed, progress));
        each = std::max(each, taken);
    }
    const std::size_t room = std::max<std::size_t>((limit - (keeps ? packed : 0)) / each, 1);
    plan.workers = static_cast<unsigned>(std::min<std::size_t>(plan.workers, room));
    plan.isScarce = !keeps || room < std::size_t{2} * plan.workers; // it keeps up to as much again
    return plan;
}

} // namespace

Result<WalkedExamples> walkEachExample(const graph::Model &model, const std::string &modelPath,
                                       const CalibrateOptions &options, const EachViewer &viewer,
                                       const Progress &progress)
{
    HALFTONE_TRY(const auto source, openExamples(options.examples, model, modelPath));
    HALFTONE_TRY(
        const Batches batches,
        separateBatches(model, *source, options.backend, options.batch, options.shard, options.memoryLimit));
    HALFTONE_TRY(const MemoryPlan plan, memoryPlanOf(model, *source, batches, options, progress));
    HALFTONE_TRY(
        BatchWalk walk,
        BatchWalk::create(model, batches, options.backend, plan.workers, tensor::DType::Unknown, true));
    BatchFailure failure;
    std::optional<FrugalMemory> frugal;
    if (plan.isScarce)
        frugal.emplace();
    walk.run(
        *source,
        [&](interpret::Interpreter &interpreter, std::size_t k, const interpret::Feed &feed,
            const Progress &part) {
            return showEach(model, interpreter, plan.prepare, feed, batches.filling(k), viewer, part);
        },
        progress, failure);
    if (failure.error())
        return *failure.error();
    return WalkedExamples{batches.examples, source->count().value_or(0), batches.size > 0};
}

} // namespace halftone::walks
