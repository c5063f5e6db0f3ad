#include "core/walks/compare.h"

#include "core/base/pace.h"
#include "core/base/progress_part.h"
#include "core/base/share_work.h"
#include "core/base/text.h"
#include "core/infer/shown_outputs.h"
#include "core/tasks/task_count.h"
#include "core/walks/batches.h"
#include "core/walks/compare_each.h"
#include "core/walks/compare_parts.h"
#include "core/walks/fixed_batch.h"
#include "core/walks/independent_examples.h"
#include "core/walks/run.h"
#include "core/walks/runtime_model.h"

#include <algorithm>
#include <chrono>

namespace halftone::walks {
namespace {

using compare::LayerCompare;
using compare::Room;

class BatchComparison
{
public:
    BatchComparison(LayerCompare compare, const graph::Graph &graph, const ExampleSource &source,
                    const Batches &batches, const CompareOptions &options,
                    std::shared_ptr<const tasks::Task> task)
        : m_compare(std::move(compare))
        , m_graph(graph)
        , m_source(source)
        , m_examples(options.examples)
        , m_limit(options.settings.memoryLimit)
        , m_batches(batches)
        , m_reference(source.labels())
        , m_other(source.labels())
        , m_task(std::move(task))
    {
    }

    /// between  called after every batch but the last
    Result<void> run(const Progress &progress, const std::function<void()> &between)
    {
        HALFTONE_CHECK(runFirst(progress));
        for (std::size_t k = 1; k < m_batches.count; ++k) {
            between();
            HALFTONE_TRY(const Room room, add(k, progress));
            if (room == Room::TooSmall)
                return exceedsMemory();
        }
        return {};
    }

    void tell(CompareOutcome &outcome) const
    {
        outcome.comparison = m_compare.result();
        outcome.examples = std::min(m_batches.examples, m_batches.first(m_added));
        outcome.expected = m_batches.examples;
        outcome.batch = m_batches.size;
        outcome.reference = m_reference.result();
        outcome.other = m_other.result();
        outcome.task = m_task.result();
    }

private:
    /// Finds how many examples fit, too. An array without an axis of examples has to fit whole.
    Result<void> runFirst(const Progress &progress)
    {
        for (;;) {
            HALFTONE_TRY(const Room room, add(0, progress));
            if (room == Room::Enough)
                return {};
            if (m_batches.size <= 1 || m_batches.isFilled)
                return exceedsMemory();
            m_batches = m_batches.halved();
            m_compare.forget();
        }
    }

    Result<Room> add(std::size_t k, const Progress &progress)
    {
        const double share = 1 / static_cast<double>(m_batches.count);
        HALFTONE_TRY(const interpret::Feed feed, m_batches.feed(m_source, k));
        HALFTONE_TRY(const Room room,
                     m_compare.add(feed, partOf(progress, share * static_cast<double>(k), share),
                                   m_batches.filling(k)));
        if (const auto unclean = m_compare.firstUnclean())
            return uncleanReference(m_graph, *unclean);
        const LayerCompare::Heads &heads = m_compare.heads();
        m_added = room == Room::Enough ? k + 1 : 0;
        if (room == Room::Enough && !heads.reference.empty()) {
            HALFTONE_CHECK(addTo(m_reference, heads.reference[0], m_batches.first(k)));
            HALFTONE_CHECK(addTo(m_other, heads.other[0], m_batches.first(k)));
            HALFTONE_CHECK(m_task.add(heads.reference[0], &heads.other[0], m_batches.first(k)));
        }
        return room;
    }

    Result<void> addTo(tasks::AccuracyCount &count, const tensor::Tensor &head, std::size_t first) const
    {
        auto added = count.add(head, first);
        return added.ok() ? added : inFile(std::move(added).error(), labelsFile(m_examples));
    }

    Error exceedsMemory() const
    {
        return walks::exceedsMemory(m_limit, m_batches.size == 0 ? "the inputs" : "one example");
    }

    LayerCompare m_compare;
    const graph::Graph &m_graph; ///< of the reference
    const ExampleSource &m_source;
    const ExampleOptions &m_examples;
    std::size_t m_limit;
    Batches m_batches;
    std::size_t m_added = 0; ///< batches
    tasks::AccuracyCount m_reference;
    tasks::AccuracyCount m_other;
    tasks::TaskCount m_task;
};

} // namespace

Error uncleanReference(const graph::Graph &reference, const compare::LayerErrors &unclean)
{
    return badInput(infer::valueName(reference, unclean.node, unclean.output),
                    "float32 itself produces " + grouped(unclean.notFinite)
                        + " NaN or infinite values, first in this layer, so a comparison is not possible",
                    "finite values");
}

std::size_t packedBytes(const graph::Model &model)
{
    std::size_t bytes = 0;
    for (const tensor::Array &array : model.parameters)
        if (array.shape.isComplete())
            bytes += sizeof(float) * array.values.elementCount();
    return bytes;
}

Error exceedsMemory(std::size_t memoryLimit, const std::string &what, std::size_t needed)
{
    std::string found = humanBytes(memoryLimit);
    std::string expected = humanBytes(needed);
    if (found == expected) {
        constexpr std::size_t kMebibyte = std::size_t{1} << 20;
        found = grouped(memoryLimit / kMebibyte) + " MiB";
        expected = grouped(needed / kMebibyte + 1) + " MiB";
    }
    return unsupported(Field::Memory,
                       "a limit of " + found + " is too small for " + what + " and its intermediate tensors",
                       needed > memoryLimit ? "about " + expected : "more");
}

void recordModels(CompareOutcome &outcome, compare::ComparedModels models)
{
    outcome.unmatched = compare::unmatchedNodes(models);
    outcome.outputs = sourceOutputNames(models.reference.graph);
    outcome.models = std::move(models);
}

Result<CompareOutcome> compareModels(compare::ComparedModels models, const std::string &modelPath,
                                     const CompareOptions &options, const Progress &progress,
                                     const InterimOutcome &interim)
{
    const auto start = std::chrono::steady_clock::now();
    const unsigned threads = threadsFor(options.threads);
    HALFTONE_TRY(const kernels::BackendChain backends,
                 backends::backendChain(options.backend, threads, options.arithmetic, options.accumulator));
    HALFTONE_TRY(const auto source, openExamples(options.examples, models.reference, modelPath));
    HALFTONE_TRY(auto task, taskOf(options.examples, *source, models.reference.graph));
    const auto seconds
        = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    compare::CompareSettings settings = options.settings;
    if (runsWholeModels(options.otherBackend)) {
        settings.whole = std::make_shared<RuntimeModel>(
            models.other,
            runtimes::RuntimeUse{options.otherBackend, threads, options.precision, settings.memoryLimit});
    } else if (!options.otherBackend.empty()) {
        HALFTONE_TRY(
            settings.otherBackends,
            backends::backendChain(options.otherBackend, threads, options.arithmetic, options.accumulator));
    }
    if (options.eachAlone && settings.otherBackends.empty() && !settings.whole) {
        HALFTONE_TRY(const Batches apart,
                     separateBatches(models.reference, *source, options.backend, options.batch, options.shard,
                                     options.settings.memoryLimit));
        if (apart.size > 0) {
            const auto complete = [&](CompareOutcome &compared) {
                compared.notes = source->notes();
                compared.arithmetic = options.arithmetic;
                compared.all = source->count().value_or(0);
                recordModels(compared, models);
                compared.seconds = seconds();
            };
            InterimOutcome tell;
            if (interim)
                tell = [&](CompareOutcome soFar) {
                    complete(soFar);
                    interim(std::move(soFar));
                };
            CompareOutcome compared;
            HALFTONE_CHECK(compareEach(models, *source, apart, task, options, progress, compared, tell));
            complete(compared);
            return compared;
        }
    }
    HALFTONE_TRY(LayerCompare compare, LayerCompare::create(models, backends, settings));
    HALFTONE_TRY(const Batches batches, batchesOf(models.reference, *source, options.backend, options.batch));
    BatchComparison comparison(std::move(compare), models.reference.graph, *source, batches, options,
                               std::move(task));
    const auto outcomeSoFar = [&] {
        CompareOutcome outcome;
        comparison.tell(outcome);
        outcome.arithmetic = options.arithmetic;
        outcome.notes = source->notes();
        recordModels(outcome, models);
        if (settings.whole)
            outcome.notes.emplace_back(runtimes::kMarkingNote);
        outcome.seconds = seconds();
        return outcome;
    };
    Pace pace;
    HALFTONE_CHECK(comparison.run(progress, [&] {
        if (!interim || !pace.isDue())
            return;
        CompareOutcome soFar = outcomeSoFar();
        soFar.isWhole = false;
        interim(std::move(soFar));
    }));
    return outcomeSoFar();
}

} // namespace halftone::walks
