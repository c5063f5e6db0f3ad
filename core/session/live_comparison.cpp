#include "core/session/live_comparison.h"

#include "core/profile/kept_compare.h"
#include "core/runtime/backends.h"
#include "core/session/compare_parts.h"

#include <algorithm>
#include <chrono>

namespace halftone::session {
namespace {

struct Batches
{
    std::vector<runtime::Feed> feeds;
    std::size_t batch = 0; ///< examples in each but the last; 0: all, untouched
};

/// All examples in batches; nothing when they go beyond the memory limit.
Result<std::optional<Batches>> readAll(const ExampleSource &source, const CompareOptions &options,
                                       const Progress &progress)
{
    Batches batches{{}, batchOf(options, source)};
    const std::size_t count = source.count().value_or(0);
    if (source.count() && count == 0)
        return std::optional<Batches>(); // compareModels() says what is wrong
    std::size_t bytes = 0;
    for (std::size_t first = 0; first == 0 || first < count; first += batches.batch) {
        if (progress.stopped())
            return Error{Errc::Cancelled, {}, {}, "stopped", {}};
        const std::size_t number = batches.batch == 0 ? 0 : std::min(batches.batch, count - first);
        HALFTONE_TRY(runtime::Feed feed, source.batch(first, number));
        for (const auto &[name, value] : feed)
            bytes += value.bytes().size();
        if (bytes > options.settings.memoryLimit)
            return std::optional<Batches>();
        batches.feeds.push_back(std::move(feed));
        if (batches.batch == 0)
            break;
    }
    return std::optional(std::move(batches));
}

bool isSameData(CompareOptions a, const CompareOptions &b)
{
    return a.examples == b.examples && a.backend == b.backend && a.threads == b.threads && a.batch == b.batch
        && a.settings.memoryLimit == b.settings.memoryLimit;
}

} // namespace

struct LiveComparison::Kept
{
    std::shared_ptr<const io::LoadedModel> source;
    CompareOptions options;
    std::unique_ptr<ExampleSource> examples;
    std::size_t batch = 0;
    std::optional<profile::KeptCompare> compare; ///< nothing: the examples alone are too large

    static Result<std::unique_ptr<Kept>> create(const Snapshot &snapshot, const CompareOptions &options,
                                                const Progress &progress)
    {
        auto kept = std::make_unique<Kept>();
        kept->source = snapshot.source;
        kept->options = options;
        HALFTONE_TRY(kept->examples,
                     openExamples(options.examples, snapshot.graph(), snapshot.source->symbolPath));
        const unsigned threads = options.threads > 0 ? options.threads : runtime::machineThreads();
        HALFTONE_TRY(const runtime::BackendChain backends, runtime::backendChain(options.backend, threads));
        HALFTONE_TRY(std::optional<Batches> batches, readAll(*kept->examples, options, progress));
        if (!batches)
            return kept;
        kept->batch = batches->batch;
        HALFTONE_TRY(
            kept->compare,
            profile::KeptCompare::create(snapshot.source->model, std::move(batches->feeds), backends));
        return kept;
    }

    CompareOutcome outcomeOf(profile::KeptCompare::Answer answer) const
    {
        CompareOutcome outcome;
        outcome.comparison = std::move(answer.comparison);
        outcome.examples = examples->count().value_or(0);
        outcome.batch = batch;
        AccuracyCount reference(examples->labels());
        AccuracyCount other(examples->labels());
        for (std::size_t k = 0; k < answer.heads.size(); ++k) {
            if (answer.heads[k].reference.empty())
                continue;
            reference.add(answer.heads[k].reference[0], k * batch);
            other.add(answer.heads[k].other[0], k * batch);
        }
        outcome.reference = reference.result();
        outcome.other = other.result();
        return outcome;
    }
};

LiveComparison::LiveComparison() = default;
LiveComparison::~LiveComparison() = default;

Result<CompareOutcome> LiveComparison::compare(const Snapshot &snapshot, const CompareOptions &options,
                                               const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    if (!m_kept || m_kept->source != snapshot.source || !isSameData(m_kept->options, options)) {
        m_kept = nullptr;
        HALFTONE_TRY(m_kept, Kept::create(snapshot, options, progress));
    }
    profile::ComparedModels models = profile::convertedPair(snapshot.source->model, snapshot.converted->model,
                                                            snapshot.converted->conversion);
    std::optional<profile::KeptCompare::Answer> answer;
    if (m_kept->compare) {
        HALFTONE_TRY(answer, m_kept->compare->compare(models, options.settings, progress));
    }
    if (!answer)
        return compareModels(std::move(models), snapshot.source->symbolPath, options, progress);
    if (answer->unclean)
        return uncleanReference(snapshot.graph(), *answer->unclean);
    CompareOutcome outcome = m_kept->outcomeOf(std::move(*answer));
    tellModels(outcome, std::move(models));
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

std::size_t LiveComparison::computedNodes() const
{
    return m_kept && m_kept->compare ? m_kept->compare->computedNodes() : 0;
}

} // namespace halftone::session
