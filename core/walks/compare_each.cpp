#include "core/walks/compare_each.h"

#include "core/backends/backends.h"
#include "core/base/frugal_memory.h"
#include "core/base/guarded.h"
#include "core/base/pace.h"
#include "core/base/share_work.h"
#include "core/compare/layer_rows.h"
#include "core/walks/batch_walk.h"
#include "core/walks/compare_parts.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace halftone::walks {
namespace {

using compare::LayerCompare;
using compare::Room;

/// Values of so many examples at once are enough.
constexpr std::size_t kMostSideBySide = 8;

class EachComparison
{
public:
    /// shared  bytes of parameters that both models have: the limit leaves room for two, so that they are there for workers
    /// each    bytes that an example takes at least; positive
    EachComparison(const compare::ComparedModels &models, std::size_t shared, std::size_t each,
                   const ExampleSource &source, const Batches &batches,
                   std::shared_ptr<const tasks::Task> task, const CompareOptions &options,
                   const InterimOutcome &interim)
        : m_models(models)
        , m_shared(shared)
        , m_each(each)
        , m_source(source)
        , m_batches(batches)
        , m_options(options)
        , m_interim(interim)
        , m_reference(source.labels())
        , m_other(source.labels())
        , m_task(std::move(task))
    {
    }

    /// False: the examples of so many workers found no room in so much memory.
    Result<bool> run(std::size_t workers, std::size_t memory, bool keepsKernels, const Progress &progress)
    {
        std::size_t first = 0;
        if (!keepsKernels && workers > 1) {
            HALFTONE_TRY(workers, runFirst(workers, memory, progress));
            first = 1;
        }
        if (m_isTooSmall)
            return false;
        HALFTONE_CHECK(makeWorkers(workers, memory, keepsKernels));
        std::atomic<std::size_t> done = first;
        shareParts(static_cast<unsigned>(workers), m_batches.count - first,
                   [&](std::size_t part, unsigned worker) {
                       const std::size_t k = first + part;
                       if (m_failure.isBefore(k) || m_isTooSmall)
                           return false;
                       Result<void> added = guarded([&] { return add(m_workers[worker], k, progress); });
                       if (!added.ok())
                           m_failure.tell(k, std::move(added).error());
                       else if (m_interim)
                           publish(worker);
                       ++done;
                       if (worker == 0)
                           progress.tell(static_cast<double>(done) / static_cast<double>(m_batches.count),
                                         "comparing");
                       return true;
                   });
        HALFTONE_CHECK(progress.checkStop());
        if (m_failure.error() && !m_isTooSmall)
            return *m_failure.error();
        return !m_isTooSmall;
    }

    void tell(CompareOutcome &outcome) const
    {
        std::vector<compare::ComparedParts> parts;
        for (const LayerCompare &worker : m_workers)
            parts.push_back(worker.parts());
        tell(parts, m_batches.examples, outcome);
    }

private:
    /// Of the workers, at the same time.
    void tell(std::span<const compare::ComparedParts> all, std::size_t examples,
              CompareOutcome &outcome) const
    {
        CompareParts parts{all.front(), m_reference.hits(), m_other.hits(), m_task.parts()};
        std::size_t peak = parts.parts.peakBytes;
        for (const compare::ComparedParts &more : all.subspan(1)) {
            peak += more.peakBytes;
            compare::addParts(more, parts.parts);
        }
        parts.parts.peakBytes = peak;
        outcome.comparison = compare::comparisonOf(parts.parts, m_options.settings.threshold);
        outcome.examples = examples;
        outcome.expected = m_batches.examples;
        outcome.batch = m_batches.size;
        outcome.reference = m_reference.result();
        outcome.other = m_other.result();
        outcome.task = m_task.result();
        outcome.parts = std::move(parts);
    }

    /// A worker's figures so far; the first one tells those of all that have published some.
    void publish(unsigned worker)
    {
        if (!m_published[worker].pace.isDue())
            return;
        const std::lock_guard lock(m_judging);
        m_published[worker].parts = m_workers[worker].parts();
        if (worker != 0)
            return;
        std::vector<compare::ComparedParts> parts;
        for (const Published &one : m_published)
            if (one.parts)
                parts.push_back(*one.parts);
        CompareOutcome outcome;
        tell(parts, std::min(m_judged, m_batches.examples - 1), outcome);
        outcome.isWhole = false;
        m_interim(std::move(outcome));
    }

    /// What kernels need for themselves nobody says before they have run: the first example tells how many workers there is memory for,
    /// at most so many.
    Result<std::size_t> runFirst(std::size_t workers, std::size_t memory, const Progress &progress)
    {
        HALFTONE_CHECK(makeWorkers(1, memory, false));
        FrugalMemory::restartPeak();
        const Result<void> added = guarded([&] { return add(m_workers[0], 0, progress); });
        if (!added.ok() && !m_isTooSmall)
            return added.error();
        const std::size_t each = std::max(FrugalMemory::peakBytes(), m_each);
        return std::clamp<std::size_t>((memory + m_shared) / each, 1, workers);
    }

    /// Each with one thread, and its share of the memory. Those that there are stay.
    Result<void> makeWorkers(std::size_t workers, std::size_t memory, bool keepsKernels)
    {
        HALFTONE_TRY(
            const kernels::BackendChain backends,
            backends::backendChain(m_options.backend, 1, m_options.arithmetic, m_options.accumulator));
        compare::CompareSettings settings = m_options.settings;
        settings.memoryLimit = memory / workers;
        settings.keepsKernels = keepsKernels;
        while (m_workers.size() < workers) {
            HALFTONE_TRY(LayerCompare worker, LayerCompare::create(m_models, backends, settings));
            m_workers.push_back(std::move(worker));
        }
        m_published.resize(workers);
        return {};
    }

    Result<void> add(LayerCompare &worker, std::size_t k, const Progress &progress)
    {
        HALFTONE_CHECK(progress.checkStop());
        HALFTONE_TRY(const interpret::Feed feed, m_batches.feed(m_source, k));
        HALFTONE_TRY(const Room room, worker.add(feed, {progress.stop, {}}, m_batches.filling(k)));
        if (const auto unclean = worker.firstUnclean())
            return uncleanReference(m_models.reference.graph, *unclean);
        if (room == Room::TooSmall) {
            m_isTooSmall = true;
            return cancelled();
        }
        const std::lock_guard lock(m_judging);
        m_judged += m_batches.number(k);
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

    const compare::ComparedModels &m_models;
    std::size_t m_shared;
    std::size_t m_each;
    const ExampleSource &m_source;
    const Batches &m_batches;
    const CompareOptions &m_options;
    const InterimOutcome &m_interim;
    std::vector<LayerCompare> m_workers;
    BatchFailure m_failure;
    std::atomic<bool> m_isTooSmall = false;
    /// Of a worker.
    struct Published
    {
        Pace pace;
        std::optional<compare::ComparedParts> parts;
    };
    std::mutex m_judging; ///< of all that follows
    std::vector<Published> m_published;
    std::size_t m_judged = 0; ///< examples
    tasks::AccuracyCount m_reference;
    tasks::AccuracyCount m_other;
    tasks::TaskCount m_task;
};

/// Of one example, about: the values of both models, its inputs, and what the most demanding kernel takes for itself.
/// fails: what starting a run of the first example refuses
Result<std::size_t> neededBytes(const compare::ComparedModels &models, const ExampleSource &source,
                                const Batches &batches, const CompareOptions &options)
{
    HALFTONE_TRY(const kernels::BackendChain backends,
                 backends::backendChain(options.backend, 1, options.arithmetic, options.accumulator));
    HALFTONE_TRY(const interpret::Feed feed, batches.feed(source, 0));
    std::size_t values = interpret::feedBytes(feed);
    std::size_t scratch = 0;
    for (const graph::Model *const model : {&models.reference, &models.other}) {
        HALFTONE_TRY(auto interpreter,
                     interpret::Interpreter::create(
                         *model, backends, model == &models.other ? models.float16As : tensor::DType::F16));
        HALFTONE_TRY(const interpret::Execution run,
                     interpreter.start(feed, interpret::Prepare::WhenComputed));
        values += run.peakBytes();
        scratch = std::max(scratch, run.scratchBytes());
    }
    const std::size_t figures = compare::LayerRows(models.reference.graph).bytes(options.settings.isolated);
    return std::max<std::size_t>(values + scratch + figures, 1);
}

/// Kernels that are kept, without the weights that they pack: about 25 kB each, as measured on oneDNN's.
std::size_t kernelBytes(const compare::ComparedModels &models)
{
    constexpr std::size_t kEach = 25'000;
    std::size_t nodes = 0;
    for (const graph::Model *const model : {&models.reference, &models.other})
        for (graph::NodeId id = 0; id < model->graph.nodeCount(); ++id)
            nodes += model->graph.isVariable(id) ? 0 : 1;
    return nodes * kEach;
}

/// Parameters where kernels can read them; what both models have is copied once. Gives the bytes of that.
Result<std::size_t> makeReadable(compare::ComparedModels &models)
{
    std::map<const void *, std::size_t> places;
    for (std::size_t k = 0; k < models.reference.parameters.size(); ++k)
        places.emplace(models.reference.parameters[k].values.place(), k);
    HALFTONE_TRY(models.reference, interpret::withReadableParameters(std::move(models.reference)));
    std::size_t shared = 0;
    for (tensor::Array &array : models.other.parameters) {
        const auto found = places.find(array.values.place());
        if (found == places.end() || array.values.byteCount() == 0)
            continue;
        const tensor::Tensor &values = models.reference.parameters[found->second].values;
        if (values.dtype() != array.values.dtype() || values.shape() != array.values.shape())
            continue;
        array.values = values;
        shared += array.values.byteCount();
    }
    HALFTONE_TRY(models.other, interpret::withReadableParameters(std::move(models.other)));
    return shared;
}

} // namespace

Result<void> compareEach(const compare::ComparedModels &models, const ExampleSource &source,
                         const Batches &batches, const std::shared_ptr<const tasks::Task> &task,
                         const CompareOptions &options, const Progress &progress, CompareOutcome &outcome,
                         const InterimOutcome &interim)
{
    const std::size_t threads = threadsFor(options.threads);
    // Workers take their own copies of nothing: parameters are shared, and so is what is packed of them.
    compare::ComparedModels readable = models;
    HALFTONE_TRY(const std::size_t shared, makeReadable(readable));
    const std::size_t memory = options.settings.memoryLimit;
    const std::size_t packed = packedBytes(readable.reference) + packedBytes(readable.other);
    const std::size_t kernels = kernelBytes(readable); // of each worker
    HALFTONE_TRY(const std::size_t each, neededBytes(readable, source, batches, options));
    if (each > memory)
        return exceedsMemory(memory, "one example", each);
    const std::size_t most = std::min({threads, batches.count, kMostSideBySide});
    const auto heldBy
        = [&](std::size_t bytes, std::size_t kept) { return std::min(bytes / (each + kept), most); };
    // Kernels and packed weights are not worth having fewer workers for.
    bool keepsKernels = packed < memory / 2
        && heldBy(memory - packed, kernels) >= std::max<std::size_t>(heldBy(memory, 0), 1);
    std::optional<FrugalMemory> frugal;
    for (std::size_t workers = keepsKernels ? heldBy(memory - packed, kernels) : most; workers > 0;) {
        // The C library keeps up to as much again of large buffers.
        if (!frugal && (!keepsKernels || memory - packed < 2 * workers * each))
            frugal.emplace();
        EachComparison comparison(readable, shared, each, source, batches, task, options, interim);
        HALFTONE_TRY(const bool hadRoom,
                     comparison.run(workers, keepsKernels ? memory - packed - workers * kernels : memory,
                                    keepsKernels, progress));
        if (hadRoom) {
            comparison.tell(outcome);
            outcome.packedBytes = keepsKernels ? packed : 0;
            return {};
        }
        if (!keepsKernels)
            workers /= 2;
        keepsKernels = false;
    }
    return exceedsMemory(memory, "one example", each);
}

} // namespace halftone::walks
