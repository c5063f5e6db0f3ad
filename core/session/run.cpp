#include "core/session/run.h"

#include "core/dialect/mxnet/entry_name.h"
#include "core/runtime/backends.h"
#include "core/runtime/join.h"
#include "core/runtime/random_params.h"
#include "core/runtime/shown_outputs.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>

namespace halftone::session {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::Tensor;
namespace mx = dialect::mxnet;

/// Each holds packed weights of its own.
constexpr std::size_t kMostWorkers = 8;

/// Collects values under their names, batch after batch.
class Outputs
{
public:
    void add(const std::string &name, Tensor value)
    {
        const auto [at, isNew] = m_places.try_emplace(name, m_parts.size());
        if (isNew)
            m_parts.emplace_back(name, std::vector<Tensor>());
        m_parts[at->second].second.push_back(std::move(value));
    }

    Result<std::vector<io::NamedTensor>> join() const
    {
        std::vector<io::NamedTensor> joined;
        for (const auto &[name, parts] : m_parts) {
            auto whole = runtime::joinRows(parts);
            if (!whole.ok())
                return badInput(name, "outputs of the batches that cannot be joined: " + whole.error().found,
                                "a batch of all examples, or --examples 1");
            joined.push_back({name, std::move(whole).value()});
        }
        return joined;
    }

private:
    std::map<std::string, std::size_t> m_places;
    std::vector<std::pair<std::string, std::vector<Tensor>>> m_parts;
};

bool isInsertedCast(const graph::NodeDef &node)
{
    return (node.op == "amp_cast" && node.name.find("_amp_cast_") != std::string::npos)
        || (node.op == "amp_multicast" && node.name.find("amp_multicast") != std::string::npos);
}

} // namespace

std::vector<std::string> sourceOutputNames(const graph::Graph &graph)
{
    std::vector<std::string> names;
    std::unordered_set<std::string> taken;
    for (Entry head : graph.heads()) {
        while (isInsertedCast(graph.node(head.node)) && head.output < graph.inputs(head.node).size())
            head = graph.inputs(head.node)[head.output];
        const std::string name = mx::entryName(graph, head);
        std::string unique = name;
        for (int k = 1; !taken.insert(unique).second; ++k)
            unique = name + '_' + std::to_string(k);
        names.push_back(std::move(unique));
    }
    return names;
}

namespace {

/// How the examples are cut into batches.
struct BatchPlan
{
    std::size_t batches = 1;
    std::size_t step = 0; ///< examples of a batch; 0: all at once
    std::size_t count = 0;

    std::size_t begin(std::size_t k) const { return k * step; }
    std::size_t length(std::size_t k) const { return step == 0 ? 0 : std::min(step, count - begin(k)); }
};

Result<BatchPlan> batchPlan(const ExampleSource &source, const RunSettings &settings)
{
    const std::size_t wanted = settings.batch > 0 ? settings.batch : source.usualBatch();
    const std::size_t count = source.count().value_or(0);
    if (!source.count() || (wanted == 0 && settings.examples.examples == 0))
        return BatchPlan{};
    if (count == 0)
        return badInput("--inputs", "no examples", "one or more");
    const std::size_t step = wanted == 0 ? count : wanted;
    return BatchPlan{(count + step - 1) / step, step, count};
}

/// What one batch gave.
struct BatchOutcome
{
    std::vector<Tensor> heads;
    std::vector<std::pair<std::string, Tensor>> values; ///< of all nodes, if wanted
    std::map<std::string, std::size_t> kernels;
    double seconds = 0;
};

/// Batches shared out among workers, each with an interpreter of its own: kernels that need not wait for one another use
/// a machine better than threads that share each kernel.
class ModelRun
{
public:
    ModelRun(const graph::Graph &graph, const RunSettings &settings, const ExampleSource &source,
             std::vector<runtime::Interpreter> interpreters)
        : m_graph(graph)
        , m_settings(settings)
        , m_source(source)
        , m_interpreters(std::move(interpreters))
        , m_shown(runtime::shownOutputs(graph))
    {
    }

    Result<RunOutcome> run(const BatchPlan &plan, const Progress &progress)
    {
        std::vector<std::optional<Result<BatchOutcome>>> outcomes(plan.batches);
        runAll(plan, outcomes, progress);
        const std::vector<std::string> names = sourceOutputNames(m_graph);
        AccuracyCount count(m_source.labels());
        Outputs outputs;
        RunOutcome outcome;
        for (std::size_t k = 0; k < plan.batches; ++k) {
            if (!outcomes[k]) // given up after an earlier one failed, or stopped
                return Error{Errc::Cancelled, {}, {}, "stopped", {}};
            HALFTONE_TRY(BatchOutcome batch, std::move(*outcomes[k]));
            outcome.seconds += batch.seconds / static_cast<double>(m_interpreters.size());
            if (k == 0)
                outcome.kernels = std::move(batch.kernels);
            for (std::size_t i = 0; i < batch.heads.size() && !m_settings.allNodes; ++i)
                outputs.add(names[i], batch.heads[i]);
            for (auto &[name, value] : batch.values)
                outputs.add(name, std::move(value));
            if (!batch.heads.empty())
                count.add(batch.heads[0], plan.begin(k));
        }
        outcome.batches = plan.batches;
        outcome.accuracy = count.result();
        HALFTONE_TRY(outcome.outputs, outputs.join());
        return outcome;
    }

private:
    /// What the workers tell the thread that waits for them.
    struct Shared
    {
        std::mutex mutex;
        std::condition_variable changed;
        std::size_t next = 0;
        std::size_t done = 0;
        std::size_t working = 0;
        bool failed = false;
        std::vector<double> shares; ///< by worker: of its batch
        std::string node; ///< that somebody computed last
    };

    void runAll(const BatchPlan &plan, std::vector<std::optional<Result<BatchOutcome>>> &outcomes,
                const Progress &progress)
    {
        Shared shared;
        shared.working = m_interpreters.size();
        shared.shares.resize(m_interpreters.size());
        std::vector<std::jthread> workers;
        for (std::size_t worker = 0; worker < m_interpreters.size(); ++worker)
            workers.emplace_back([&, worker] { work(worker, plan, shared, outcomes, progress.stop); });
        constexpr std::chrono::milliseconds kBetweenReports(40);
        std::unique_lock lock(shared.mutex);
        while (shared.working > 0) {
            shared.changed.wait_for(lock, kBetweenReports);
            double share = static_cast<double>(shared.done);
            for (const double part : shared.shares)
                share += part;
            const std::string node = shared.node;
            lock.unlock();
            progress.tell(std::min(share / static_cast<double>(plan.batches), 1.0), node);
            lock.lock();
        }
    }

    void work(std::size_t worker, const BatchPlan &plan, Shared &shared,
              std::vector<std::optional<Result<BatchOutcome>>> &outcomes, const std::stop_token &stop)
    {
        std::unique_lock lock(shared.mutex);
        while (shared.next < plan.batches && !shared.failed && !stop.stop_requested()) {
            const std::size_t k = shared.next++;
            lock.unlock();
            Result<BatchOutcome> outcome = runBatch(worker, plan, k, shared, stop);
            lock.lock();
            shared.failed = shared.failed || !outcome.ok();
            shared.shares[worker] = 0;
            ++shared.done;
            outcomes[k] = std::move(outcome);
        }
        --shared.working;
        shared.changed.notify_all();
    }

    Result<BatchOutcome> runBatch(std::size_t worker, const BatchPlan &plan, std::size_t k, Shared &shared,
                                  const std::stop_token &stop)
    {
        HALFTONE_TRY(const runtime::Feed feed, m_source.batch(plan.begin(k), plan.length(k)));
        BatchOutcome outcome;
        runtime::RunOptions options;
        options.progress.stop = stop;
        options.progress.report = [&](double share, std::string_view what) {
            const std::lock_guard lock(shared.mutex);
            shared.shares[worker] = share;
            shared.node = what;
        };
        options.tap = [&](const runtime::NodeValue &value) { return tap(value, k == 0, outcome); };
        const auto start = std::chrono::steady_clock::now();
        HALFTONE_TRY(outcome.heads, m_interpreters[worker].run(feed, options));
        outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return outcome;
    }

    Result<void> tap(const runtime::NodeValue &value, bool firstBatch, BatchOutcome &outcome) const
    {
        if (firstBatch)
            ++outcome.kernels[std::string(value.kernel)];
        for (std::size_t k = 0;
             m_settings.allNodes && k < std::min(m_shown[value.node], value.outputs.size()); ++k)
            outcome.values.emplace_back(runtime::valueName(m_graph, value.node, k), value.outputs[k]);
        return {};
    }

    const graph::Graph &m_graph;
    const RunSettings &m_settings;
    const ExampleSource &m_source;
    std::vector<runtime::Interpreter> m_interpreters;
    std::vector<std::size_t> m_shown;
};

/// The shapes of the first batch, from which those of random parameters follow.
Result<graph::Model> filled(const graph::Model &model, const RunSettings &settings,
                            const ExampleSource &source)
{
    if (!settings.randomParameters)
        return model;
    HALFTONE_TRY(const runtime::Feed feed, source.batch(0, source.usualBatch()));
    std::unordered_map<std::string, tensor::Shape> shapes;
    for (const auto &[name, value] : feed)
        shapes.emplace(name, value.shape());
    return runtime::withRandomParameters(model, shapes, *settings.randomParameters);
}

} // namespace

Result<RunOutcome> runModel(const graph::Model &model, const std::string &symbolPath,
                            const RunSettings &settings, const Progress &progress)
{
    const unsigned threads = settings.threads > 0 ? settings.threads : runtime::machineThreads();
    HALFTONE_TRY(const auto source, openExamples(settings.examples, model.graph, symbolPath));
    HALFTONE_TRY(const BatchPlan plan, batchPlan(*source, settings));
    HALFTONE_TRY(graph::Model complete, filled(model, settings, *source));
    HALFTONE_TRY(complete, runtime::withReadableParameters(std::move(complete)));
    const std::size_t workers = std::min({plan.batches, std::size_t{threads}, kMostWorkers});
    HALFTONE_TRY(
        const runtime::BackendChain backends,
        runtime::backendChain(settings.backend, std::max(1U, threads / static_cast<unsigned>(workers))));
    std::vector<runtime::Interpreter> interpreters;
    for (std::size_t k = 0; k < workers; ++k) {
        HALFTONE_TRY(runtime::Interpreter interpreter, runtime::Interpreter::create(complete, backends));
        interpreters.push_back(std::move(interpreter));
    }
    return ModelRun(complete.graph, settings, *source, std::move(interpreters)).run(plan, progress);
}

} // namespace halftone::session
