#include "core/profile/kept_outputs.h"

#include "core/base/guarded.h"
#include "core/base/share_work.h"
#include "core/profile/kept_plan.h"
#include "core/profile/layer_rows.h"
#include "core/profile/output_rows.h"
#include "core/profile/value_spans.h"
#include "core/profile/value_store.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_set>

namespace halftone::profile {
namespace {

using graph::NodeId;
using interpret::Execution;
using interpret::Interpreter;
using interpret::Prepare;
using tensor::Tensor;
using Key = ValueKeys::Key;

constexpr std::uint64_t kRemembered = 2; ///< models back whose outputs are still there

} // namespace

class KeptOutputs::Impl
{
public:
    Impl(graph::Model reference, std::vector<interpret::Feed> batches, kernels::BackendChain backends,
         unsigned threads)
        : m_model(std::move(reference))
        , m_batches(std::move(batches))
        , m_backends(std::move(backends))
        , m_threads(
              static_cast<unsigned>(std::clamp<std::size_t>(m_batches.size(), 1, std::max(threads, 1U))))
        , m_values(m_batches.size())
    {
        for (const interpret::Feed &feed : m_batches)
            for (const auto &[name, value] : feed)
                m_feedBytes += value.bytes().size();
    }

    Result<std::optional<KeptCompare::Answer>> compare(const ComparedModels &models, std::size_t memoryLimit,
                                                       const Progress &progress);

private:
    struct Run
    {
        const ComparedModels &models;
        const Progress &progress;
        std::vector<Interpreter> others{}; ///< by thread
        KeptPlan reference{};
        KeptPlan lowered{};
        std::vector<LayerCompare::Heads> heads{}; ///< by batch
        std::mutex telling{};
        std::size_t done = 0; ///< batches
    };

    Result<void> prepareThreads(Run &run);
    Result<bool> plan(Run &run, std::size_t memoryLimit);
    Result<std::vector<Tensor>> headsOf(Interpreter &interpreter, const graph::Graph &graph,
                                        const KeptPlan &plan, std::size_t batch, const Progress &progress);
    Result<void> computeBatch(Run &run, unsigned thread, std::size_t batch);
    Result<void> computeAll(Run &run);
    std::optional<LayerErrors> firstUnclean(const Run &run) const;

    const graph::Model m_model;
    const std::vector<interpret::Feed> m_batches;
    const kernels::BackendChain m_backends;
    const unsigned m_threads;
    std::vector<Interpreter> m_references; ///< by thread: one run at a time each
    std::size_t m_feedBytes = 0;
    ValueKeys m_keys;
    ValueStore m_values;
};

Result<void> KeptOutputs::Impl::prepareThreads(Run &run)
{
    for (unsigned thread = 0; thread < m_threads; ++thread) {
        if (thread >= m_references.size()) {
            HALFTONE_TRY(Interpreter reference, Interpreter::create(m_model, m_backends));
            m_references.push_back(std::move(reference));
        }
        HALFTONE_TRY(Interpreter other, Interpreter::create(run.models.other, m_backends));
        run.others.push_back(std::move(other));
    }
    return {};
}

/// Numbers what is computed. False: no room.
Result<bool> KeptOutputs::Impl::plan(Run &run, std::size_t memoryLimit)
{
    HALFTONE_TRY(const Execution reference, m_references[0].start(m_batches[0], Prepare::WhenComputed));
    HALFTONE_TRY(const Execution lowered, run.others[0].start(m_batches[0], Prepare::WhenComputed));
    m_keys.nextGeneration();
    run.reference = keptPlanOf(m_model, reference, m_batches[0], m_keys);
    run.lowered = keptPlanOf(run.models.other, lowered, m_batches[0], m_keys);
    const std::vector<Key> forgotten = m_keys.forgetOlderThan(kRemembered);
    m_values.forget(std::unordered_set<Key>(forgotten.begin(), forgotten.end()));
    m_values.rememberHeads(m_model.graph, run.reference);
    m_values.rememberHeads(run.models.other.graph, run.lowered);
    if (run.reference.isOpen || run.lowered.isOpen)
        return false;
    std::unordered_set<Key> needed;
    std::size_t bytes = 0;
    for (const NodeId id : run.reference.order)
        if (!m_model.graph.isVariable(id) && needed.insert(run.reference.keys[id]).second)
            bytes += run.reference.bytes[id];
    const std::size_t inHand
        = m_threads * (bytes + run.lowered.allBytes + bytesAroundANode(m_model.graph, run.reference));
    const std::size_t heads = m_batches.size() * (run.reference.headBytes + run.lowered.headBytes);
    return m_values.makeRoom(needed, bytes, m_feedBytes + inHand + heads, memoryLimit);
}

/// Runs a model to its end, computing only what is not kept.
Result<std::vector<Tensor>> KeptOutputs::Impl::headsOf(Interpreter &interpreter, const graph::Graph &graph,
                                                       const KeptPlan &plan, std::size_t batch,
                                                       const Progress &progress)
{
    if (m_values.hasHeads(batch, graph, plan))
        return m_values.headsOf(batch, graph, plan);
    KeptValues &values = m_values.of(batch);
    HALFTONE_TRY(Execution execution, interpreter.start(m_batches[batch], Prepare::WhenComputed));
    while (!execution.isDone()) {
        const Key key = plan.keys[execution.node()];
        if (const auto known = values.find(key); known != values.end()) {
            execution.give(known->second);
            continue;
        }
        HALFTONE_TRY(const interpret::NodeValue value, execution.step(progress));
        values.emplace(key, std::vector<Tensor>(value.outputs.begin(), value.outputs.end()));
    }
    return execution.heads();
}

Result<void> KeptOutputs::Impl::computeBatch(Run &run, unsigned thread, std::size_t batch)
{
    HALFTONE_CHECK(run.progress.checkStop());
    const Progress quiet{run.progress.stop, {}};
    HALFTONE_TRY(run.heads[batch].reference,
                 headsOf(m_references[thread], m_model.graph, run.reference, batch, quiet));
    HALFTONE_TRY(run.heads[batch].other,
                 headsOf(run.others[thread], run.models.other.graph, run.lowered, batch, quiet));
    const std::scoped_lock guard(run.telling);
    run.progress.tell(static_cast<double>(++run.done) / static_cast<double>(m_batches.size()), "comparing");
    return {};
}

Result<void> KeptOutputs::Impl::computeAll(Run &run)
{
    std::unordered_set<Key> kept;
    for (const NodeId id : run.reference.order)
        kept.insert(run.reference.keys[id]);
    std::vector<Result<void>> results(m_batches.size());
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> hasFailed = false;
    shareWork(m_threads, [&](unsigned thread) {
        for (std::size_t batch = next++; batch < m_batches.size() && !hasFailed; batch = next++) {
            results[batch] = guarded([&] { return computeBatch(run, thread, batch); });
            hasFailed = hasFailed || !results[batch].ok();
            m_values.keepOnly(batch, kept);
        }
    });
    for (const Result<void> &result : results)
        HALFTONE_CHECK(result); // the first in order says why
    return {};
}

/// An output of the reference that is no number: nothing can be held against it.
std::optional<LayerErrors> KeptOutputs::Impl::firstUnclean(const Run &run) const
{
    const auto heads = m_model.graph.heads();
    for (const LayerCompare::Heads &ofBatch : run.heads) {
        for (std::size_t k = 0; k < heads.size() && k < ofBatch.reference.size(); ++k) {
            NodeRows rows(heads[k].node, 1);
            rows.addCumulative(std::span(&ofBatch.reference[k], 1), std::span(&ofBatch.reference[k], 1));
            if (auto unclean = rows.firstUnclean())
                return unclean;
        }
    }
    return std::nullopt;
}

Result<std::optional<KeptCompare::Answer>>
KeptOutputs::Impl::compare(const ComparedModels &models, std::size_t memoryLimit, const Progress &progress)
{
    Run run{models, progress};
    run.heads.resize(m_batches.size());
    HALFTONE_CHECK(prepareThreads(run));
    HALFTONE_TRY(const bool hasRoom, plan(run, memoryLimit));
    if (!hasRoom)
        return std::optional<KeptCompare::Answer>();
    HALFTONE_CHECK(computeAll(run));
    if (const auto unclean = firstUnclean(run))
        return std::optional(KeptCompare::Answer{{}, {}, 0, unclean});
    OutputRows outputs(m_model.graph);
    for (const LayerCompare::Heads &heads : run.heads) // in order: sums do not depend on who was first
        outputs.add(heads);
    KeptCompare::Answer answer{
        conclude({}, outputs.outputs(), {}), std::move(run.heads), m_batches.size(), {}};
    answer.comparison.peakBytes = m_feedBytes + m_values.bytes();
    return std::optional(std::move(answer));
}

KeptOutputs::KeptOutputs(graph::Model reference, std::vector<interpret::Feed> batches,
                         kernels::BackendChain backends, unsigned threads)
    : m_impl(std::make_unique<Impl>(std::move(reference), std::move(batches), std::move(backends), threads))
{
}
KeptOutputs::KeptOutputs(KeptOutputs &&) noexcept = default;
KeptOutputs &KeptOutputs::operator=(KeptOutputs &&) noexcept = default;
KeptOutputs::~KeptOutputs() = default;

Result<std::optional<KeptCompare::Answer>>
KeptOutputs::compare(const ComparedModels &models, std::size_t memoryLimit, const Progress &progress)
{
    return m_impl->compare(models, memoryLimit, progress);
}

} // namespace halftone::profile
