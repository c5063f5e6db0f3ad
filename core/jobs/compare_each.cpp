#include "core/jobs/compare_each.h"

#include "core/backends/backends.h"
#include "core/base/guarded.h"
#include "core/base/share_work.h"
#include "core/jobs/batch_walk.h"
#include "core/jobs/compare_parts.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace halftone::jobs {
namespace {

using profile::LayerCompare;
using profile::Room;

/// Values of so many examples at once are enough.
constexpr std::size_t kMostSideBySide = 8;

class EachComparison
{
public:
    EachComparison(const profile::ComparedModels &models, const ExampleSource &source, const Batches &batches,
                   std::shared_ptr<const Task> task, const CompareOptions &options)
        : m_models(models)
        , m_source(source)
        , m_batches(batches)
        , m_options(options)
        , m_reference(source.labels())
        , m_other(source.labels())
        , m_task(std::move(task))
    {
    }

    /// False: the examples of so many workers found no room.
    Result<bool> run(std::size_t workers, const Progress &progress)
    {
        HALFTONE_CHECK(makeWorkers(workers));
        std::atomic<std::size_t> next = 0;
        std::atomic<std::size_t> done = 0;
        shareWork(static_cast<unsigned>(workers), [&](unsigned worker) {
            for (std::size_t k = next++; k < m_batches.count && !m_failure.isBefore(k) && !m_isTooSmall;
                 k = next++) {
                Result<void> added = guarded([&] { return add(m_workers[worker], k, progress); });
                if (!added.ok())
                    m_failure.tell(k, std::move(added).error());
                if (worker == 0)
                    progress.tell(static_cast<double>(++done) / static_cast<double>(m_batches.count),
                                  "comparing");
                else
                    ++done;
            }
        });
        HALFTONE_CHECK(progress.checkStop());
        if (m_failure.error() && !m_isTooSmall)
            return *m_failure.error();
        return !m_isTooSmall;
    }

    void tell(CompareOutcome &outcome) const
    {
        CompareParts parts{m_workers.front().parts(), m_reference.hits(), m_other.hits(), m_task.parts()};
        std::size_t peak = parts.parts.peakBytes;
        for (std::size_t k = 1; k < m_workers.size(); ++k) {
            const profile::ComparedParts more = m_workers[k].parts();
            peak += more.peakBytes; // at the same time
            profile::addParts(more, parts.parts);
        }
        parts.parts.peakBytes = peak;
        outcome.comparison = profile::comparisonOf(parts.parts, m_options.settings.threshold);
        outcome.examples = m_batches.examples;
        outcome.expected = m_batches.examples;
        outcome.batch = 1;
        outcome.reference = m_reference.result();
        outcome.other = m_other.result();
        outcome.task = m_task.result();
        outcome.parts = std::move(parts);
    }

private:
    /// Each with one thread, and its share of the memory.
    Result<void> makeWorkers(std::size_t workers)
    {
        HALFTONE_TRY(
            const kernels::BackendChain backends,
            backends::backendChain(m_options.backend, 1, m_options.arithmetic, m_options.accumulator));
        profile::CompareSettings settings = m_options.settings;
        settings.memoryLimit /= workers;
        for (std::size_t k = 0; k < workers; ++k) {
            HALFTONE_TRY(LayerCompare worker, LayerCompare::create(m_models, backends, settings));
            m_workers.push_back(std::move(worker));
        }
        return {};
    }

    Result<void> add(LayerCompare &worker, std::size_t k, const Progress &progress)
    {
        HALFTONE_CHECK(progress.checkStop());
        HALFTONE_TRY(const interpret::Feed feed, m_batches.feed(m_source, k));
        HALFTONE_TRY(const Room room, worker.add(feed, {progress.stop, {}}));
        if (const auto unclean = worker.firstUnclean())
            return uncleanReference(m_models.reference.graph, *unclean);
        if (room == Room::TooSmall) {
            m_isTooSmall = true;
            return cancelled();
        }
        const std::lock_guard lock(m_judging);
        return judge(worker.heads(), m_batches.first(k));
    }

    Result<void> judge(const LayerCompare::Heads &heads, std::size_t first)
    {
        if (heads.reference.empty())
            return {};
        HALFTONE_CHECK(located(m_reference.add(heads.reference[0], first)));
        HALFTONE_CHECK(located(m_other.add(heads.other[0], first)));
        return m_task.add(heads.reference[0], &heads.other[0], first);
    }

    Result<void> located(Result<void> added) const
    {
        return added.ok() ? added : inFile(std::move(added).error(), labelsFile(m_options.examples));
    }

    const profile::ComparedModels &m_models;
    const ExampleSource &m_source;
    const Batches &m_batches;
    const CompareOptions &m_options;
    std::vector<LayerCompare> m_workers;
    BatchFailure m_failure;
    std::atomic<bool> m_isTooSmall = false;
    std::mutex m_judging; ///< of the next three
    AccuracyCount m_reference;
    AccuracyCount m_other;
    TaskCount m_task;
};

} // namespace

Result<void> compareEach(const profile::ComparedModels &models, const ExampleSource &source,
                         const Batches &batches, std::shared_ptr<const Task> task,
                         const CompareOptions &options, const Progress &progress, CompareOutcome &outcome)
{
    const std::size_t threads = options.threads > 0 ? options.threads : backends::machineThreads();
    // Workers take their own copies of nothing: parameters are shared, and so is what is packed of them.
    HALFTONE_TRY(const graph::Model reference, interpret::withReadableParameters(models.reference));
    HALFTONE_TRY(const graph::Model other, interpret::withReadableParameters(models.other));
    profile::ComparedModels shared = models;
    shared.reference = reference;
    shared.other = other;
    for (std::size_t workers = std::min({threads, batches.count, kMostSideBySide});; workers /= 2) {
        EachComparison comparison(shared, source, batches, task, options);
        HALFTONE_TRY(const bool hadRoom, comparison.run(workers, progress));
        if (hadRoom) {
            comparison.tell(outcome);
            return {};
        }
        if (workers == 1)
            return noRoom(options.settings.memoryLimit, "one example");
    }
}

} // namespace halftone::jobs
