#include "core/session/live_comparison.h"

#include "core/backends/backends.h"
#include "core/base/guarded.h"
#include "core/base/share_work.h"
#include "core/jobs/batches.h"
#include "core/jobs/compare_parts.h"
#include "core/jobs/fixed_batch.h"
#include "core/jobs/independent_examples.h"
#include "core/jobs/task_count.h"
#include "core/profile/kept_compare.h"
#include "core/profile/kept_outputs.h"
#include "core/session/derive.h"
#include "core/session/result_basis.h"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace halftone::session {
namespace {

/// All examples in batches; nothing when they go beyond the memory limit.
Result<std::optional<std::vector<interpret::Feed>>> readAll(const jobs::ExampleSource &source,
                                                            const jobs::Batches &batches, std::size_t limit,
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
bool isSameData(const jobs::CompareOptions &a, const jobs::CompareOptions &b)
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
    jobs::CompareOptions options;
    std::string basis; ///< the data as they were when they were read
    std::unique_ptr<jobs::ExampleSource> examples;
    std::shared_ptr<const jobs::Task> task;
    jobs::Batches batches;
    std::optional<profile::KeptCompare> compare; ///< nothing: the examples alone are too large
    std::optional<profile::KeptOutputs> outputs; ///< in its place, where only these are asked for

    static Result<std::unique_ptr<Kept>> create(const Snapshot &snapshot, const jobs::CompareOptions &options,
                                                const Progress &progress)
    {
        auto kept = std::make_unique<Kept>();
        kept->source = snapshot.source;
        kept->options = options;
        HALFTONE_TRY(
            kept->examples,
            jobs::openExamples(options.examples, snapshot.source->model, snapshot.source->modelPath));
        HALFTONE_TRY(kept->task, jobs::taskOf(options.examples, *kept->examples, snapshot.graph()));
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
                     profile::KeptCompare::create(snapshot.source->model, std::move(*feeds), backends,
                                                  threads,
                                                  areApart ? std::min(threads, kMostSideBySide) : 1));
        return kept;
    }

    /// As compareModels() does.
    Result<void> chooseBatches()
    {
        if (options.eachAlone) {
            HALFTONE_TRY(
                batches,
                jobs::batchesApart(source->model, *examples, options.backend, options.batch, options.part));
        }
        if (!options.eachAlone || batches.size == 0) {
            HALFTONE_TRY(batches, jobs::batchesOf(source->model, *examples, options.backend, options.batch));
        }
        return {};
    }

    Result<void> judgeBy(const jobs::ExampleOptions &data)
    {
        if (data == options.examples)
            return {};
        HALFTONE_TRY(task, jobs::taskOf(data, *examples, source->model.graph));
        options.examples = data;
        return {};
    }

    Result<jobs::CompareOutcome> outcomeOf(profile::KeptCompare::Answer answer) const
    {
        jobs::CompareOutcome outcome;
        outcome.comparison = std::move(answer.comparison);
        outcome.examples = std::min(batches.examples, batches.first(answer.batches));
        outcome.expected = batches.examples;
        outcome.batch = batches.size;
        jobs::AccuracyCount reference(examples->labels());
        jobs::AccuracyCount other(examples->labels());
        jobs::TaskCount judged(task);
        for (std::size_t k = 0; k < answer.heads.size(); ++k) {
            if (answer.heads[k].reference.empty())
                continue;
            HALFTONE_CHECK(
                judged.add(answer.heads[k].reference[0], &answer.heads[k].other[0], batches.first(k)));
            for (const auto &[count, heads] : {std::pair(&reference, &answer.heads[k].reference),
                                               std::pair(&other, &answer.heads[k].other)}) {
                if (auto added = count->add((*heads)[0], batches.first(k)); !added.ok())
                    return inFile(std::move(added).error(), jobs::labelsFile(options.examples));
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

Result<void> LiveComparison::prepare(const Snapshot &snapshot, const jobs::CompareOptions &options,
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

Result<jobs::CompareOutcome> LiveComparison::compare(const Snapshot &snapshot,
                                                     const jobs::CompareOptions &options,
                                                     const Progress &progress,
                                                     const jobs::InterimOutcome &interim)
{
    return compared(snapshot, options, {}, progress, interim);
}

Result<jobs::CompareOutcome> LiveComparison::sample(const Snapshot &snapshot,
                                                    const jobs::CompareOptions &options,
                                                    const profile::Sample &sample, const Progress &progress)
{
    return compared(snapshot, options, sample, progress, {});
}

Result<jobs::CompareOutcome> LiveComparison::compared(const Snapshot &snapshot,
                                                      const jobs::CompareOptions &options,
                                                      const profile::Sample &sample, const Progress &progress,
                                                      const jobs::InterimOutcome &interim)
{
    const auto start = std::chrono::steady_clock::now();
    HALFTONE_CHECK(prepare(snapshot, options, progress));
    HALFTONE_TRY(profile::ComparedModels models,
                 comparedPair(snapshot.source->model, *snapshot.converted, progress));
    const auto outcomeOf = [&](profile::KeptCompare::Answer answer) -> Result<jobs::CompareOutcome> {
        HALFTONE_TRY(jobs::CompareOutcome outcome, m_kept->outcomeOf(std::move(answer)));
        jobs::recordModels(outcome, models);
        outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        return outcome;
    };
    profile::KeptCompare::Interim tell;
    if (interim) {
        tell = [&](profile::KeptCompare::Answer answer) {
            auto outcome = outcomeOf(std::move(answer));
            if (!outcome.ok())
                return; // the last one says why
            outcome.value().isWhole = false;
            interim(std::move(outcome).value());
        };
    }
    std::optional<profile::KeptCompare::Answer> answer;
    // What is kept of nodes is known by the types that a file says.
    if (m_kept->outputs && models.float16As == tensor::DType::F16) {
        HALFTONE_TRY(answer,
                     m_kept->outputs->compare(models, options.settings.memoryLimit, sample, progress));
    }
    if (m_kept->compare && models.float16As == tensor::DType::F16) {
        HALFTONE_TRY(answer, m_kept->compare->compare(models, options.settings, progress, tell));
    }
    if (!answer)
        return jobs::compareModels(std::move(models), snapshot.source->modelPath, options, progress, interim);
    if (answer->unclean)
        return jobs::uncleanReference(snapshot.graph(), *answer->unclean);
    return outcomeOf(std::move(*answer));
}

std::size_t LiveComparison::computedNodes() const
{
    return m_kept && m_kept->compare ? m_kept->compare->computedNodes() : 0;
}

} // namespace halftone::session
