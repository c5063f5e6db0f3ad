#include "core/session/walk_examples.h"

#include "core/graph/traverse.h"
#include "core/runtime/backends.h"
#include "core/runtime/shown_outputs.h"
#include "core/session/task_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace halftone::session {
namespace {

using graph::NodeId;
using tensor::Tensor;

/// Activations of so many batches at once are enough.
constexpr std::size_t kMostWorkers = 8;

/// How the examples fall into batches.
struct Batches
{
    std::size_t examples = 0;
    std::size_t size = 0; ///< 0: all at once, untouched
    std::size_t count = 1;

    std::size_t first(std::size_t batch) const { return batch * size; }
    std::size_t number(std::size_t batch) const
    {
        return size == 0 ? 0 : std::min(size, examples - first(batch));
    }
};

Result<Batches> batchesOf(const ExampleSource &source, std::size_t wanted)
{
    if (!source.count())
        return Batches{};
    Batches batches{*source.count(), 0, 1};
    if (batches.examples == 0)
        return badInput("--inputs", "no examples", "one or more");
    const std::size_t usual = wanted > 0 ? wanted : source.usualBatch();
    batches.size = usual > 0 ? usual : batches.examples;
    batches.count = (batches.examples + batches.size - 1) / batches.size;
    return batches;
}

/// Whose turn it is at each node: batch after batch. After a failure the batches behind the failed one give up.
class Turns
{
public:
    explicit Turns(std::size_t nodes)
        : m_next(nodes)
    {
    }

    /// False when an earlier batch has failed.
    bool await(NodeId node, std::size_t batch)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_next[node] == batch || batch > m_failed; });
        return batch <= m_failed;
    }

    void pass(NodeId node)
    {
        const std::lock_guard lock(m_mutex);
        ++m_next[node];
        m_changed.notify_all();
    }

    void fail(std::size_t batch, Error error)
    {
        const std::lock_guard lock(m_mutex);
        if (batch < m_failed) {
            m_failed = batch;
            m_error = std::move(error);
        }
        m_changed.notify_all();
    }

    bool hasFailed(std::size_t before)
    {
        const std::lock_guard lock(m_mutex);
        return m_failed < before;
    }

    /// Needs: all batches are done or have given up.
    const std::optional<Error> &error() const { return m_error; }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<std::size_t> m_next; ///< by NodeId: the batch that is to be shown
    std::size_t m_failed = std::numeric_limits<std::size_t>::max();
    std::optional<Error> m_error;
};

class Walk
{
public:
    Walk(const graph::Model &model, const ExampleSource &source, const Batches &batches,
         const ExampleViewer &viewer)
        : m_graph(model.graph)
        , m_source(source)
        , m_batches(batches)
        , m_viewer(viewer)
        , m_shown(runtime::shownOutputs(model.graph))
        , m_order(graph::postOrder(model.graph))
        , m_turns(model.graph.nodeCount())
        , m_shares(batches.count)
    {
    }

    /// On one worker more threads look at values than on several, which look at their own.
    void lookWith(unsigned threads) { m_pool.emplace(threads); }

    /// Batches until there are no more. `progress` is told of all of them.
    void work(runtime::Interpreter &interpreter, const Progress &progress)
    {
        for (std::size_t k = m_nextBatch++; k < m_batches.count && !m_turns.hasFailed(k); k = m_nextBatch++) {
            if (Result<void> ran = run(interpreter, k, progress); !ran.ok())
                m_turns.fail(k, ran.error());
        }
    }

    Result<std::size_t> finish()
    {
        m_pool.reset();
        if (m_turns.error())
            return *m_turns.error();
        return m_batches.examples;
    }

private:
    Result<void> run(runtime::Interpreter &interpreter, std::size_t k, const Progress &progress)
    {
        HALFTONE_TRY(const runtime::Feed feed, m_source.batch(m_batches.first(k), m_batches.number(k)));
        for (const NodeId id : m_order) {
            const auto fed = m_graph.isVariable(id) ? feed.find(m_graph.node(id).name) : feed.end();
            if (fed != feed.end())
                HALFTONE_CHECK(show(id, k, std::span(&fed->second, 1)));
        }
        runtime::RunOptions options;
        options.progress = {progress.stop, [&](double done, std::string_view what) {
                                m_shares[k] = done;
                                double all = 0;
                                for (const std::atomic<double> &share : m_shares)
                                    all += share;
                                progress.tell(all / static_cast<double>(m_batches.count), what);
                            }};
        options.tap = [&](const runtime::NodeValue &value) {
            return show(value.node, k,
                        value.outputs.first(std::min(m_shown[value.node], value.outputs.size())));
        };
        const auto heads = interpreter.run(feed, options);
        m_shares[k] = 1;
        return heads.ok() ? Result<void>() : heads.error();
    }

    Result<void> show(NodeId node, std::size_t batch, std::span<const Tensor> values)
    {
        if (!m_turns.await(node, batch))
            return Error{Errc::Cancelled, {}, {}, "an earlier batch failed", {}};
        const bool isLast = batch + 1 == m_batches.count;
        const auto look = [this, node, isLast](std::span<const Tensor> all) {
            for (std::uint32_t i = 0; i < all.size(); ++i)
                m_viewer({node, i, 0}, all[i], isLast);
            m_turns.pass(node);
        };
        if (!m_pool) {
            look(values);
            return {};
        }
        std::size_t bytes = 0;
        for (const Tensor &value : values)
            bytes += value.bytes().size();
        m_pool->submit([look, kept = std::vector<Tensor>(values.begin(), values.end())] { look(kept); },
                       bytes);
        return {};
    }

    const graph::Graph &m_graph;
    const ExampleSource &m_source;
    Batches m_batches;
    const ExampleViewer &m_viewer;
    std::vector<std::size_t> m_shown;
    std::vector<NodeId> m_order;
    Turns m_turns;
    std::vector<std::atomic<double>> m_shares; ///< done of each batch
    std::atomic<std::size_t> m_nextBatch = 0;
    std::optional<TaskPool> m_pool; ///< last: its tasks use the others
};

} // namespace

Result<std::size_t> walkExamples(const graph::Model &model, const std::string &symbolPath,
                                 const CalibrateOptions &options, const ExampleViewer &viewer,
                                 const Progress &progress)
{
    const unsigned threads = options.threads > 0 ? options.threads : runtime::machineThreads();
    HALFTONE_TRY(const auto source, openExamples(options.examples, model.graph, symbolPath));
    HALFTONE_TRY(const Batches batches, batchesOf(*source, options.batch));
    const auto workers = static_cast<unsigned>(std::min({batches.count, std::size_t{threads}, kMostWorkers}));
    HALFTONE_TRY(const graph::Model shared, runtime::withReadableParameters(model));
    HALFTONE_TRY(const runtime::BackendChain backends,
                 runtime::backendChain(options.backend, std::max(threads / workers, 1U)));
    std::vector<runtime::Interpreter> interpreters;
    for (unsigned k = 0; k < workers; ++k) {
        HALFTONE_TRY(runtime::Interpreter interpreter, runtime::Interpreter::create(shared, backends));
        interpreters.push_back(std::move(interpreter));
    }
    Walk walk(model, *source, batches, viewer);
    if (workers < threads)
        walk.lookWith(threads);
    {
        std::vector<std::jthread> others;
        for (unsigned k = 1; k < workers; ++k)
            others.emplace_back([&, k] { walk.work(interpreters[k], {progress.stop, {}}); });
        walk.work(interpreters[0], progress);
    }
    return walk.finish();
}

} // namespace halftone::session
