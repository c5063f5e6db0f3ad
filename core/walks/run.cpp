#include "core/walks/run.h"

#include "core/dialect/dialect.h"
#include "core/infer/infer_shapes.h"
#include "core/infer/lists.h"
#include "core/infer/shown_outputs.h"
#include "core/interpret/interpreter.h"
#include "core/interpret/random_params.h"
#include "core/kernels/join.h"
#include "core/ops/tensor_list.h"
#include "core/rewrite/unique_names.h"
#include "core/tasks/task_count.h"
#include "core/walks/batch_walk.h"
#include "core/walks/fixed_batch.h"
#include "core/walks/runtime_model.h"
#include "core/walks/value_names.h"

#include <algorithm>
#include <chrono>

namespace halftone::walks {
namespace {

using graph::Entry;
using graph::NodeId;
using tensor::Tensor;

struct TappedValue
{
    std::string name;
    Tensor tensor;
    bool isList = false;
};

/// Collects values under their names, batch after batch.
class Outputs
{
public:
    /// A list goes apart: NAME.0, NAME.1, …
    Result<void> add(const std::string &name, Tensor value, bool isList)
    {
        if (!isList) {
            add(name, std::move(value));
            return {};
        }
        HALFTONE_TRY(const auto parts, ops::tensorsOf({value.dtype(), value.shape(), value.bytes()}));
        for (std::size_t k = 0; k < parts.size(); ++k)
            add(name + '.' + std::to_string(k),
                Tensor::owning(parts[k].type, parts[k].shape,
                               std::vector<std::byte>(parts[k].bytes.begin(), parts[k].bytes.end())));
        return {};
    }

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
            auto whole = kernels::joinRows(parts);
            if (!whole.ok())
                return orElse(badInput(name,
                                       "the outputs of the batches cannot be joined: " + whole.error().found,
                                       "one batch of all examples"),
                              Field::Examples, "1");
            joined.push_back({name, std::move(whole).value()});
        }
        return joined;
    }

private:
    std::map<std::string, std::size_t> m_places;
    std::vector<std::pair<std::string, std::vector<Tensor>>> m_parts;
};

bool isInsertedCast(const graph::Graph &graph, NodeId id)
{
    return dialect::isCast(dialect::roleOf(graph, id)) && dialect::of(graph).isCastName(graph.node(id).name);
}

} // namespace

Result<std::vector<Tensor>> constantHeads(const graph::Model &model, const Progress &progress)
{
    HALFTONE_TRY(kernels::BackendChain chain, backends::backendChain("reference", 1));
    HALFTONE_TRY(interpret::Interpreter interpreter, interpret::Interpreter::create(model, std::move(chain)));
    return interpreter.run({}, {{}, progress});
}

std::vector<std::string> sourceOutputNames(const graph::Graph &graph)
{
    std::vector<std::string> names;
    rewrite::UniqueNames unique;
    for (Entry head : graph.heads()) {
        while (isInsertedCast(graph, head.node) && head.output < graph.inputs(head.node).size())
            head = graph.inputs(head.node)[head.output];
        names.push_back(unique.take(dialect::of(graph).entryName(graph, head)));
    }
    return names;
}

namespace {

/// Arrays that nobody wants cut are run as they are, even without a row, where the model takes them so.
Result<Batches> batchesToRun(const graph::Model &model, const ExampleSource &source,
                             const RunSettings &settings)
{
    const bool isAsIs = settings.batch == 0 && source.usualBatch() == 0 && settings.examples.examples == 0;
    if (isAsIs && source.count().value_or(0) == 0)
        return Batches();
    HALFTONE_TRY(const Batches batches,
                 batchesOf(model, source, kernelBackendFor(settings.backend), settings.batch));
    return isAsIs && !batches.isFilled ? Batches() : batches;
}

/// What one batch gave.
struct BatchOutcome
{
    std::vector<Tensor> heads;
    std::vector<TappedValue> values; ///< of all nodes, if wanted
    std::map<std::string, std::size_t> kernels;
    double seconds = 0;
};

/// What a model gives over its batches.
class ModelRun
{
public:
    ModelRun(const graph::Graph &graph, const RunSettings &settings, const ExampleSource &source,
             const Batches &batches, std::shared_ptr<const tasks::Task> task)
        : m_graph(graph)
        , m_settings(settings)
        , m_source(source)
        , m_batches(batches)
        , m_task(std::move(task))
        , m_shown(infer::shownOutputs(graph))
        , m_outcomes(batches.count)
    {
        for (NodeId id = 0; id < graph.nodeCount(); ++id)
            m_operators += graph.isVariable(id) ? 0 : 1;
        if (settings.allNodes)
            m_names = valueNames(graph);
    }

    Result<RunOutcome> run(BatchWalk &walk, const Progress &progress)
    {
        BatchFailure failure;
        walk.run(
            m_source,
            [this](interpret::Interpreter &interpreter, std::size_t k, const interpret::Feed &feed,
                   const Progress &part) { return runBatch(interpreter, k, feed, part); },
            progress, failure);
        if (failure.error())
            return *failure.error();
        return joined(walk.workers());
    }

    /// The same by a runtime: outputs by a plan, values of nodes as further outputs.
    Result<RunOutcome> run(RuntimeModel &runtime, const Progress &progress)
    {
        for (std::size_t k = 0; k < m_batches.count; ++k) {
            progress.tell(static_cast<double>(k) / static_cast<double>(m_batches.count), "running");
            HALFTONE_TRY(const interpret::Feed feed, m_batches.feed(m_source, k));
            HALFTONE_CHECK(runBatch(runtime, k, feed, progress));
        }
        HALFTONE_TRY(RunOutcome whole, joined(1));
        if (m_settings.allNodes)
            whole.notes.emplace_back(runtimes::kMarkingNote);
        return whole;
    }

private:
    Result<void> runBatch(interpret::Interpreter &interpreter, std::size_t k, const interpret::Feed &feed,
                          const Progress &progress)
    {
        BatchOutcome &outcome = m_outcomes[k];
        interpret::RunOptions options;
        options.progress = progress;
        options.tap = [&](const interpret::NodeValue &value) { return tap(value, k == 0, outcome); };
        const auto start = std::chrono::steady_clock::now();
        HALFTONE_TRY(outcome.heads, interpreter.run(feed, options));
        HALFTONE_CHECK(keepOwn(k));
        outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return checkLabels(k);
    }

    Result<void> runBatch(RuntimeModel &runtime, std::size_t k, const interpret::Feed &feed,
                          const Progress &progress)
    {
        BatchOutcome &outcome = m_outcomes[k];
        HALFTONE_TRY(outcome.heads, runtime.heads(feed, progress));
        outcome.seconds = runtime.seconds();
        if (const auto facts = runtime.runtime(); facts && k == 0)
            outcome.kernels.emplace(facts->name, m_operators);
        if (m_settings.allNodes)
            HALFTONE_CHECK(takeValues(runtime, feed, m_outcomes[k], progress));
        HALFTONE_CHECK(keepOwn(k));
        return checkLabels(k);
    }

    /// In the order of nodes, as an interpreter gives them.
    Result<void> takeValues(RuntimeModel &runtime, const interpret::Feed &feed, BatchOutcome &outcome,
                            const Progress &progress) const
    {
        std::vector<Entry> wanted;
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
            for (std::size_t k = 0; k < (m_graph.isVariable(id) ? 0 : m_shown[id]); ++k)
                wanted.push_back({id, static_cast<std::uint32_t>(k), 0});
        std::vector<Tensor> values(wanted.size());
        HALFTONE_CHECK(runtime.values(
            feed, wanted,
            [&](std::size_t place, const Tensor &value) -> Result<void> {
                values[place] = value;
                return {};
            },
            progress));
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            if (values[k].dtype() != tensor::DType::Unknown)
                outcome.values.push_back({m_names[wanted[k].node][wanted[k].output], values[k],
                                          infer::isList(m_graph, wanted[k])});
        }
        return {};
    }

    Result<void> checkLabels(std::size_t k) const
    {
        const BatchOutcome &outcome = m_outcomes[k];
        if (!outcome.heads.empty()) {
            if (auto right = tasks::checkLabels(m_source.labels(), outcome.heads[0], m_batches.first(k));
                !right.ok())
                return inFile(std::move(right).error(), labelsFile(m_settings.examples));
        }
        return {};
    }

    /// What counts of a batch that was filled up.
    Result<void> keepOwn(std::size_t k)
    {
        const kernels::FilledBatch filling = m_batches.filling(k);
        BatchOutcome &batch = m_outcomes[k];
        for (std::size_t i = 0; i < batch.heads.size(); ++i) {
            if (!infer::isList(m_graph, m_graph.heads()[i]))
                HALFTONE_CHECK(cut(batch.heads[i], filling));
        }
        for (TappedValue &value : batch.values) {
            if (!value.isList)
                HALFTONE_CHECK(cut(value.tensor, filling));
        }
        return {};
    }

    static Result<void> cut(Tensor &value, const kernels::FilledBatch &filling)
    {
        HALFTONE_TRY(value, kernels::ownPart(value, filling));
        return {};
    }

    Result<void> tap(const interpret::NodeValue &value, bool firstBatch, BatchOutcome &outcome) const
    {
        if (firstBatch)
            ++outcome.kernels[std::string(value.kernel)];
        for (std::size_t k = 0;
             m_settings.allNodes && k < std::min(m_shown[value.node], value.outputs.size()); ++k)
            outcome.values.push_back(
                {m_names[value.node][k], value.outputs[k],
                 infer::isList(m_graph, {value.node, static_cast<std::uint32_t>(k), 0})});
        return {};
    }

    Result<RunOutcome> joined(std::size_t workers)
    {
        const std::vector<std::string> names = sourceOutputNames(m_graph);
        tasks::AccuracyCount count(m_source.labels());
        tasks::TaskCount task(m_task);
        Outputs outputs;
        RunOutcome whole;
        for (std::size_t k = 0; k < m_batches.count; ++k) {
            const BatchOutcome batch = std::move(m_outcomes[k]);
            whole.seconds += batch.seconds / static_cast<double>(workers);
            for (std::size_t i = 0; i < batch.heads.size() && !m_settings.allNodes; ++i)
                HALFTONE_CHECK(
                    outputs.add(names[i], batch.heads[i], infer::isList(m_graph, m_graph.heads()[i])));
            for (const TappedValue &value : batch.values)
                HALFTONE_CHECK(outputs.add(value.name, value.tensor, value.isList));
            if (!batch.heads.empty()) {
                HALFTONE_CHECK(count.add(batch.heads[0], m_batches.first(k)));
                HALFTONE_CHECK(task.add(batch.heads[0], nullptr, m_batches.first(k)));
            }
            if (k == 0)
                whole.kernels = batch.kernels;
        }
        whole.batches = m_batches.count;
        whole.notes = m_source.notes();
        whole.accuracy = count.result();
        whole.task = task.result();
        if (whole.task && !whole.task->reference)
            whole.task = std::nullopt;
        HALFTONE_TRY(whole.outputs, outputs.join());
        return whole;
    }

    const graph::Graph &m_graph;
    const RunSettings &m_settings;
    const ExampleSource &m_source;
    Batches m_batches;
    std::shared_ptr<const tasks::Task> m_task;
    std::vector<std::size_t> m_shown;
    std::vector<std::vector<std::string>> m_names; ///< of all values, by NodeId and output, if wanted
    std::vector<BatchOutcome> m_outcomes;
    std::size_t m_operators = 0; ///< nodes that are no variables
};

/// The shapes of the first batch, from which those of random parameters follow.
Result<graph::Model> filled(const graph::Model &model, const RunSettings &settings,
                            const ExampleSource &source)
{
    if (!settings.randomParameters)
        return model;
    HALFTONE_TRY(const interpret::Feed feed, source.batch(0, source.usualBatch()));
    infer::KnownShapes shapes;
    for (const auto &[name, value] : feed)
        shapes.emplace(name, value.shape());
    return interpret::withRandomParameters(model, shapes, *settings.randomParameters);
}

} // namespace

Result<RunOutcome> runModel(const graph::Model &model, const std::string &modelPath,
                            const RunSettings &settings, const Progress &progress)
{
    if (model.graph.heads().empty())
        return badInput("outputs", "the graph has no outputs", "at least one");
    HALFTONE_TRY(const auto source, openExamples(settings.examples, model, modelPath));
    HALFTONE_TRY(auto task, taskOf(settings.examples, *source, model.graph));
    HALFTONE_TRY(const graph::Model complete, filled(model, settings, *source));
    HALFTONE_TRY(const Batches batches, batchesToRun(complete, *source, settings));
    ModelRun run(complete.graph, settings, *source, batches, std::move(task));
    if (runsWholeModels(settings.backend)) {
        if (tensor::isHalf(settings.accumulator))
            return unsupported(Field::Accumulate, "a runtime chooses the accumulators of products itself");
        RuntimeModel runtime(complete, {settings.backend, settings.threads, settings.precision});
        return run.run(runtime, progress);
    }
    HALFTONE_TRY(
        BatchWalk walk,
        BatchWalk::create(complete, batches, settings.backend, settings.threads, settings.accumulator));
    return run.run(walk, progress);
}

} // namespace halftone::walks
