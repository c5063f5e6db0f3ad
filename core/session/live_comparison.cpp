#include "core/session/live_comparison.h"

#include "core/backends/backends.h"
#include "core/base/guarded.h"
#include "core/base/share_work.h"
#include "core/compare/kept_compare.h"
#include "core/session/derive.h"
#include "core/session/result_basis.h"
#include "core/tasks/task_count.h"
#include "core/walks/batches.h"
#include "core/walks/compare_parts.h"
#include "core/walks/fixed_batch.h"
#include "core/walks/independent_examples.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace halftone::session {
namespace {

/// All examples in batches; nothing when they go beyond the memory limit.
Result<std::optional<std::vector<interpret::Feed>>> readAll(const walks::ExampleSource &source,
                                                            const walks::Batches &batches, std::size_t limit,
                                                            unsigned threads, const Progress &progress)
{
    std::vector<Result<interpret::Feed>> read(batches.count, Result<interpret::Feed>(interpret::Feed()));
    std::atomic<std::size_t> bytes = 0;
    shareParts(threads, batches.count, [&](std::size_t k, unsigned) {
        read[k] = guarded([&] { return batches.feed(source, k); });
        if (read[k].ok())
            bytes += interpret::feedBytes(read[k].value());
        return read[k].ok() && bytes <= limit && !progress.stopped();
    });
    HALFTONE_CHECK(progress.checkStop());
    std::vector<interpret::Feed> feeds;
    for (Result<interpret::Feed> &one : read) {
        HALFTONE_TRY(interpret::Feed feed, std::move(one)); // the first in order that fails says why
        feeds.push_back(std::move(feed));
    }
    if (bytes > limit)
        return std::optional<std::vector<interpret::Feed>>();
    return std::optional(std::move(feeds));
}

/// Values of so many examples at once are enough.
constexpr unsigned kMostSideBySide = 8;

/// But for what is right, which nothing that is kept depends on.
bool isSameData(const walks::CompareOptions &a, const walks::CompareOptions &b)
{
    return a.examples.hasInputsOf(b.examples) && a.backend == b.backend && a.threads == b.threads
        && a.batch == b.batch && a.eachAlone == b.eachAlone
        && a.settings.outputsOnly == b.settings.outputsOnly
        && a.settings.memoryLimit == b.settings.memoryLimit;
}

} // namespace

struct LiveComparison::Kept
{
    std::shared_ptr<const io::LoadedModel> source;
    walks::CompareOptions options;
    std::string basis; ///< the data as they were when they were read
    std::unique_ptr<walks::ExampleSource> examples;
    std::shared_ptr<const tasks::Task> task;
    walks::Batches batches;
    std::optional<compare::KeptCompare> compare; ///< nothing: the examples alone are too large
    std::optional<compare::KeptOutputs> outputs; ///< in its place, where only these are asked for

    static Result<std::unique_ptr<Kept>>
    create(const Snapshot &snapshot, const walks::CompareOptions &options, const Progress &progress)
    {
        auto kept = std::make_unique<Kept>();
        kept->source = snapshot.source;
        kept->options = options;
        HALFTONE_TRY(
            kept->examples,
            walks::openExamples(options.examples, snapshot.source->model, snapshot.source->modelPath));
        HALFTONE_TRY(kept->task, walks::taskOf(options.examples, *kept->examples, snapshot.graph()));
        const unsigned threads = threadsFor(options.threads);
        HALFTONE_CHECK(kept->chooseBatches());
        if (kept->batches.hasFilling()) // of which not all rows count
            return kept;
        const bool areApart = options.eachAlone && kept->batches.size > 0;
        HALFTONE_TRY(const kernels::BackendChain backends,
                     backends::backendChain(options.backend, areApart ? 1 : threads));
        HALFTONE_TRY(
            std::optional<std::vector<interpret::Feed>> feeds,
            readAll(*kept->examples, kept->batches, options.settings.memoryLimit, threads, progress));
        if (!feeds)
            return kept;
        if (options.settings.outputsOnly) {
            HALFTONE_TRY(kernels::BackendChain alone, backends::backendChain(options.backend, 1));
            kept->outputs.emplace(snapshot.source->model, std::move(*feeds), std::move(alone), threads);
            return kept;
        }
        HALFTONE_TRY(kept->compare,
                     compare::KeptCompare::create(snapshot.source->model, std::move(*feeds), backends,
                                                  threads,
                                                  areApart ? std::min(threads, kMostSideBySide) : 1));
        return kept;
    }

    /// As compareModels() does.
    Result<void> chooseBatches()
    {
        if (options.eachAlone) {
            HALFTONE_TRY(batches,
                         walks::separateBatches(source->model, *examples, options.backend, options.batch,
                                                options.shard));
        }
        if (!options.eachAlone || batches.size == 0) {
            HALFTONE_TRY(batches, walks::batchesOf(source->model, *examples, options.backend, options.batch));
        }
        return {};
    }

    Result<void> judgeBy(const walks::ExampleOptions &data)
    {
        if (data == options.examples)
            return {};
        HALFTONE_TRY(task, walks::taskOf(data, *examples, source->model.graph));
        options.examples = data;
        return {};
    }

    Result<walks::CompareOutcome> outcomeOf(compare::KeptCompare::Answer answer) const
    {
        walks::CompareOutcome outcome;
        outcome.comparison = std::move(answer.comparison);
        outcome.examples = std::min(batches.examples, batches.first(answer.batches));
        outcome.expected = batches.examples;
        outcome.batch = batches.size;
        tasks::AccuracyCount reference(examples->labels());
        tasks::AccuracyCount other(examples->labels());
        tasks::TaskCount judged(task);
        for (std::size_t k = 0; k < answer.heads.size(); ++k) {
            if (answer.heads[k].reference.empty())
                continue;
            HALFTONE_CHECK(
                judged.add(answer.heads[k].reference[0], &answer.heads[k].other[0], batches.first(k)));
            for (const auto &[count, heads] : {std::pair(&reference, &answer.heads[k].reference),
                                               std::pair(&other, &answer.heads[k].other)}) {
                if (auto added = count->add((*heads)[0], batches.first(k)); !added.ok())
                    return inFile(std::move(added).error(), walks::labelsFile(options.examples));
            }
        }
        outcome.reference = reference.result();
        outcome.other = other.result();
        outcome.task = judged.result();
        return outcome;
    }
};

LiveComparison::LiveComparison() = default;
LiveComparison::~LiveComparison() = default;

Result<void> LiveComparison::prepare(const Snapshot &snapshot, const walks::CompareOptions &options,
                                     const Progress &progress)
{
    std::string basis = comparisonBasis(options, snapshot.source->modelPath);
    if (!m_kept || m_kept->source != snapshot.source || !isSameData(m_kept->options, options)
        || m_kept->basis != basis) {
        m_kept = nullptr;
        HALFTONE_TRY(m_kept, Kept::create(snapshot, options, progress));
        m_kept->basis = std::move(basis);
    }
    return m_kept->judgeBy(options.examples);
}

Result<walks::CompareOutcome> LiveComparison::compare(const Snapshot &snapshot,
                                                      const walks::CompareOptions &options,
                                                      const Progress &progress,
                                                      const walks::InterimOutcome &interim)
{
    return compared(snapshot, options, {}, progress, interim);
}

Result<walks::CompareOutcome> LiveComparison::sample(const Snapshot &snapshot,
                                                     const walks::CompareOptions &options,
                                                     const compare::Sample &sample, const Progress &progress)
{
    return compared(snapshot, options, sample, progress, {});
}

Result<walks::CompareOutcome> LiveComparison::compared(const Snapshot &snapshot,
                                                       const walks::CompareOptions &options,
                                                       const compare::Sample &sample,
                                                       const Progress &progress,
                                                       const walks::InterimOutcome &interim)
{
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_CHECK(prepare(snapshot, options, progress));
    HALFTONE_TRY(compare::ComparedModels models,
                 comparedPair(snapshot.source->model, *snapshot.converted, progress));
    const auto outcomeOf = [&](compare::KeptCompare::Answer answer) -> Result<walks::CompareOutcome> {
        HALFTONE_TRY(walks::CompareOutcome outcome, m_kept->outcomeOf(std::move(answer)));
        walks::recordModels(outcome, models);
        outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return outcome;
    };
    compare::KeptCompare::Interim tell;
    if (interim) {
        tell = [&](compare::KeptCompare::Answer answer) {
            auto outcome = outcomeOf(std::move(answer));
            if (!outcome.ok())
                return; // the last one says why
            outcome.value().isWhole = false;
            interim(std::move(outcome).value());
        };
    }
    std::optional<compare::KeptCompare::Answer> answer;
    // What is kept of nodes is known by the types that a file says.
    if (m_kept->outputs && models.float16As == tensor::DType::F16) {
        HALFTONE_TRY(answer,
                     m_kept->outputs->compare(models, options.settings.memoryLimit, sample, progress));
    }
    if (m_kept->compare && models.float16As == tensor::DType::F16) {
        HALFTONE_TRY(answer, m_kept->compare->compare(models, options.settings, progress, tell));
    }
    if (!answer)
        return walks::compareModels(std::move(models), snapshot.source->modelPath, options, progress,
                                    interim);
    if (answer->unclean)
        return walks::uncleanReference(snapshot.graph(), *answer->unclean);
    return outcomeOf(std::move(*answer));
}

std::size_t LiveComparison::computedNodes() const
{
    return m_kept && m_kept->compare ? m_kept->compare->computedNodes() : 0;
}

} // namespace halftone::session
