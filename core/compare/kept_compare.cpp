#include "core/compare/kept_compare.h"

#include "core/base/guarded.h"
#include "core/base/pace.h"
#include "core/base/share_work.h"
#include "core/compare/kept_layers.h"
#include "core/compare/layer_rows.h"
#include "core/compare/output_rows.h"
#include "core/compare/value_spans.h"
#include "core/compare/value_store.h"
#include "core/graph/traverse.h"
#include "core/infer/shown_outputs.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <unordered_set>

namespace halftone::compare {
namespace {

using graph::NodeId;
using interpret::Execution;
using interpret::Feed;
using interpret::Prepare;
using rewrite::kNoNode;
using tensor::Tensor;
using Key = ValueKeys::Key;

/// Comparisons back whose values are still there, so that an undone edit costs next to nothing: two edits, since errors
/// and isolated errors are two comparisons.
constexpr std::uint64_t kGenerations = 4;

/// Parameters are shared, and so is what is packed of them.
Result<std::vector<interpret::Interpreter>>
interpretersOf(const graph::Model &model, const kernels::BackendChain &backends, std::size_t count)
{
    HALFTONE_TRY(const graph::Model shared, interpret::withReadableParameters(model));
    std::vector<interpret::Interpreter> interpreters;
    for (std::size_t k = 0; k < count; ++k) {
        HALFTONE_TRY(interpret::Interpreter one, interpret::Interpreter::create(shared, backends));
        interpreters.push_back(std::move(one));
    }
    return interpreters;
}

} // namespace

class KeptCompare::Impl
{
public:
    Impl(const graph::Model &reference, std::vector<Feed> batches, const kernels::BackendChain &backends,
         unsigned threads, std::vector<interpret::Interpreter> interpreters)
        : m_model(reference)
        , m_batches(std::move(batches))
        , m_backends(backends)
        , m_threads(threads)
        , m_references(std::move(interpreters))
        , m_shown(infer::shownOutputs(reference.graph))
        , m_weighed(weighedValues(reference.graph))
        , m_values(m_batches.size())
        , m_layers(m_model.graph, backends, m_batches.size())
    {
        for (const Feed &feed : m_batches)
            m_feedBytes += interpret::feedBytes(feed);
    }

    Result<std::optional<Answer>> compare(const ComparedModels &models, const CompareSettings &settings,
                                          const Progress &progress, const Interim &interim);

    std::size_t computedNodes() const { return m_computed; }

private:
    struct Run; // what one compare() works with
    /// Which batch is computed, and on whose interpreters: the first worker is the calling thread.
    struct Turn
    {
        std::size_t batch = 0;
        std::size_t worker = 0;
    };

    bool makeRoom(Run &run);
    void forgetOld();
    void expect(Run &run) const;
    bool prepare(Run &run, const Execution &reference, const Execution &lowered, bool isolated);
    bool isKnown(const Run &run, std::size_t batch) const;
    using OneBatch = std::function<Result<void>(const Turn &)>;
    Result<void> sideBySide(const Run &run, std::size_t first, const OneBatch &work);
    Result<void> fill(Execution execution, const KeptPlan &plan, Run &run, const Turn &turn);
    Result<void> addCumulative(const Run &run, std::size_t batch);
    Result<void> addErrors(Run &run, const Turn &turn);
    Result<void> addIsolated(Run &run, const Turn &turn);
    Result<void> addWave(Run &run, std::size_t first);
    void release(const Run &run, std::size_t first);
    std::optional<LayerErrors> firstUnclean(const Run &run) const;
    KeptBatch batchOf(Run &run, const Turn &turn);
    Answer answerOf(const Run &run) const;
    void tellInterim(Run &run) const;
    std::vector<LayerErrors> layers(const Run &run) const;

    const graph::Model m_model;
    const std::vector<Feed> m_batches;
    const kernels::BackendChain m_backends;
    const unsigned m_threads;
    std::size_t m_figureBytes = 0; ///< of layers, which count as values do
    std::vector<interpret::Interpreter> m_references; ///< by worker
    const std::vector<std::size_t> m_shown; ///< by NodeId
    const std::vector<Weighed> m_weighed; ///< by NodeId
    std::size_t m_feedBytes = 0;

    ValueKeys m_keys;
    ValueStore m_values;
    std::map<std::pair<NodeId, Key>, KeptFigures> m_cumulative; ///< by the other's computation
    KeptLayers m_layers;
    std::atomic<std::size_t> m_computed = 0;
};

struct KeptCompare::Impl::Run
{
    const ComparedModels &models;
    const CompareSettings &settings;
    const Progress &progress;
    const Interim &interim;
    std::vector<interpret::Interpreter> others; ///< by worker
    KeptPlan reference{};
    KeptPlan lowered{};
    std::size_t workers = 1;
    std::vector<LayerCompare::Heads> heads{}; ///< by batch
    std::size_t batches = 0; ///< whose errors are known
    KeptLayers::Asked alone{};
    double expected = 1; ///< bytes to compute
    std::atomic<double> done = 0;
    Pace pace{};

    void add(double bytes, std::string_view what, const Turn &turn)
    {
        const double now = done += bytes;
        if (turn.worker == 0)
            progress.tell(std::min(1.0, now / expected), what);
    }
    /// The computation that answers to a node of the reference; 0 for none.
    Key answer(NodeId node) const
    {
        const NodeId counterpart = models.counterpart[node];
        return counterpart == kNoNode ? 0 : lowered.keys[counterpart];
    }
};

/// Is there room for the values of one batch, and so much that LayerCompare would find room too, whichever way it goes? It
/// would take smaller batches otherwise, whose sums are not those of these.
bool KeptCompare::Impl::makeRoom(Run &run)
{
    if (run.reference.isOpen || run.lowered.isOpen)
        return false;
    const std::size_t around = bytesAroundANode(m_model.graph, run.reference);
    std::unordered_set<Key> needed;
    std::size_t values = 0;
    const auto need = [&](const graph::Graph &graph, const KeptPlan &plan) {
        for (const NodeId id : plan.order) {
            if (!graph.isVariable(id) && needed.insert(plan.keys[id]).second)
                values += plan.bytes[id];
        }
    };
    need(m_model.graph, run.reference);
    need(run.models.other.graph, run.lowered);
    const std::size_t heads = run.reference.headBytes + run.lowered.headBytes;
    const std::size_t streamed = m_feedBytes + 2 * (run.reference.allBytes + run.lowered.allBytes + around)
        + run.reference.allBytes // what int8 layers read, for a while
        + heads;
    const std::size_t others = m_feedBytes + m_batches.size() * heads + run.reference.allBytes + 2 * around;
    m_figureBytes = LayerRows(m_model.graph).bytes(run.settings.isolated);
    const std::size_t limit = run.settings.memoryLimit - std::min(run.settings.memoryLimit, m_figureBytes);
    const std::size_t held = streamed > limit ? streamed : others;
    // Where not all batches are kept, those in hand take room, too.
    const bool hasAll = held < limit && (limit - held) / std::max<std::size_t>(values, 1) >= m_batches.size();
    while (!hasAll && run.workers > 1 && held + run.workers * values > limit)
        run.workers /= 2;
    return m_values.makeRoom(needed, values, held + (hasAll ? 0 : (run.workers - 1) * values), limit);
}

void KeptCompare::Impl::forgetOld()
{
    const std::vector<Key> forgotten = m_keys.forgetOlderThan(kGenerations);
    const std::unordered_set<Key> keys(forgotten.begin(), forgotten.end());
    if (keys.empty())
        return;
    m_values.forget(keys);
    std::erase_if(m_cumulative, [&](const auto &figures) { return keys.contains(figures.first.second); });
}

/// How many bytes of values are to be computed, about: the time goes more with them than with nodes.
void KeptCompare::Impl::expect(Run &run) const
{
    run.expected = 1 + m_layers.bytesToCompute(run.alone);
    for (std::size_t batch = 0; batch < m_batches.size(); ++batch) {
        const bool isAlone = !m_layers.isKnown(run.alone, batch);
        if (!isKnown(run, batch))
            run.expected += m_values.missingBytes(batch, m_model.graph, run.reference)
                + m_values.missingBytes(batch, run.models.other.graph, run.lowered);
        if (isAlone && (isKnown(run, batch) || !m_values.keepsAll(batch)))
            run.expected += m_values.missingBytes(batch, m_model.graph, run.reference);
    }
}

/// Are the errors of all layers, and the heads, those of before?
bool KeptCompare::Impl::isKnown(const Run &run, std::size_t batch) const
{
    for (const NodeId id : run.reference.order) {
        const Key answer = m_model.graph.isVariable(id) ? 0 : run.answer(id);
        if (answer == 0)
            continue;
        const auto figures = m_cumulative.find({id, answer});
        if (figures == m_cumulative.end() || !figures->second.has[batch])
            return false;
    }
    return m_values.hasHeads(batch, m_model.graph, run.reference)
        && m_values.hasHeads(batch, run.models.other.graph, run.lowered);
}

/// Runs a model to its end, computing only what is not kept yet.
Result<void> KeptCompare::Impl::fill(Execution execution, const KeptPlan &plan, Run &run, const Turn &turn)
{
    KeptValues &values = m_values.of(turn.batch);
    while (!execution.isDone()) {
        const NodeId node = execution.node();
        if (const auto known = values.find(plan.keys[node]); known != values.end()) {
            execution.give(known->second);
            continue;
        }
        HALFTONE_TRY(const interpret::NodeValue value, execution.step({run.progress.stop, {}}));
        values.emplace(plan.keys[node], std::vector<Tensor>(value.outputs.begin(), value.outputs.end()));
        ++m_computed;
        run.add(static_cast<double>(plan.bytes[node]), "comparing", turn);
    }
    LayerCompare::Heads &heads = run.heads[turn.batch];
    (&plan == &run.reference ? heads.reference : heads.other) = execution.heads();
    return {};
}

/// Every layer's figures are added by one thread, so that they do not depend on how many there are.
Result<void> KeptCompare::Impl::addCumulative(const Run &run, std::size_t batch)
{
    const KeptValues &values = m_values.of(batch);
    std::vector<std::pair<NodeId, KeptFigures *>> added;
    for (const NodeId id : run.reference.order) {
        const Key answer = m_model.graph.isVariable(id) ? 0 : run.answer(id);
        if (answer == 0)
            continue;
        KeptFigures &figures
            = m_cumulative
                  .try_emplace({id, answer},
                               KeptFigures(NodeRows(id, m_shown[id], m_weighed[id]), m_batches.size()))
                  .first->second;
        if (!figures.has[batch])
            added.emplace_back(id, &figures);
    }
    shareParts(m_threads, added.size(), [&](std::size_t k, unsigned) {
        const auto &[id, figures] = added[k];
        figures->rows.addCumulative(values.at(run.reference.keys[id]), values.at(run.answer(id)));
        figures->settle(batch);
        return !run.progress.stopped();
    });
    return run.progress.checkStop();
}

std::optional<LayerErrors> KeptCompare::Impl::firstUnclean(const Run &run) const
{
    std::optional<LayerErrors> head;
    for (std::size_t batch = 0; batch < run.heads.size() && !head; ++batch)
        head = uncleanHead(m_model.graph, run.heads[batch].reference);
    if (!head)
        return std::nullopt;
    for (const NodeId id : run.reference.order) {
        const bool isCompared = !m_model.graph.isVariable(id) && run.answer(id) != 0;
        if (auto unclean
            = isCompared ? m_cumulative.at({id, run.answer(id)}).rows.firstUnclean() : std::nullopt)
            return unclean;
    }
    return head;
}

KeptBatch KeptCompare::Impl::batchOf(Run &run, const Turn &turn)
{
    return {run.models,
            run.reference,
            m_values.of(turn.batch),
            run.heads[turn.batch].reference,
            turn.batch,
            turn.worker,
            run.progress,
            [this, &run, turn](NodeId node) { run.add(0, m_model.graph.node(node).name, turn); },
            [this] { ++m_computed; },
            [this, &run, turn](NodeId node) {
                run.add(run.alone.bytes[node], m_model.graph.node(node).name, turn);
                if (turn.worker == 0)
                    tellInterim(run);
            }};
}

std::vector<LayerErrors> KeptCompare::Impl::layers(const Run &run) const
{
    std::vector<LayerErrors> layers;
    for (const NodeId id : run.reference.order) {
        if (m_model.graph.isVariable(id))
            continue;
        std::vector<LayerErrors> rows = run.answer(id) == 0
            ? NodeRows(id, m_shown[id]).layers()
            : m_cumulative.at({id, run.answer(id)}).rows.layers();
        m_layers.tell(id, run.alone, rows);
        layers.insert(layers.end(), rows.begin(), rows.end());
    }
    return layers;
}

KeptCompare::Answer KeptCompare::Impl::answerOf(const Run &run) const
{
    OutputRows outputs(m_model.graph);
    for (std::size_t batch = 0; batch < run.batches; ++batch)
        outputs.add(run.heads[batch], m_batches[batch]);
    Answer answer{
        conclude(layers(run), outputs.outputs(), run.settings.threshold), run.heads, run.batches, {}};
    answer.comparison.peakBytes = m_feedBytes + m_values.bytes() + m_figureBytes;
    return answer;
}

void KeptCompare::Impl::tellInterim(Run &run) const
{
    if (run.interim && run.batches > 0 && run.pace.isDue())
        run.interim(answerOf(run));
}

/// Numbers what is computed, before anything is. False: no room.
bool KeptCompare::Impl::prepare(Run &run, const Execution &reference, const Execution &lowered, bool isolated)
{
    m_keys.nextGeneration();
    run.reference = keptPlanOf(m_model, reference, m_batches[0], m_keys);
    run.lowered = keptPlanOf(run.models.other, lowered, m_batches[0], m_keys);
    forgetOld();
    m_values.rememberHeads(m_model.graph, run.reference);
    m_values.rememberHeads(run.models.other.graph, run.lowered);
    if (!makeRoom(run))
        return false;
    if (isolated)
        run.alone = m_layers.choose(run.models, run.reference, run.lowered, run.workers);
    expect(run);
    return true;
}

/// As many batches as there are workers, from `first` on. The first in order that fails says why.
Result<void> KeptCompare::Impl::sideBySide(const Run &run, std::size_t first, const OneBatch &work)
{
    const std::size_t count = std::min(run.workers, m_batches.size() - first);
    std::vector<Result<void>> done(count);
    shareParts(static_cast<unsigned>(count), count, [&](std::size_t k, unsigned worker) {
        done[k] = guarded([&] { return work({first + k, worker}); });
        return true;
    });
    for (Result<void> &one : done)
        HALFTONE_CHECK(one);
    return run.progress.checkStop();
}

void KeptCompare::Impl::release(const Run &run, std::size_t first)
{
    for (std::size_t k = first; k < std::min(first + run.workers, m_batches.size()); ++k)
        m_values.release(k);
}

/// Of one batch, but for the figures.
Result<void> KeptCompare::Impl::addErrors(Run &run, const Turn &turn)
{
    LayerCompare::Heads &heads = run.heads[turn.batch];
    if (isKnown(run, turn.batch)) {
        heads = {m_values.headsOf(turn.batch, m_model.graph, run.reference),
                 m_values.headsOf(turn.batch, run.models.other.graph, run.lowered)};
        return {};
    }
    const Feed &feed = m_batches[turn.batch];
    HALFTONE_TRY(Execution reference, m_references[turn.worker].start(feed, Prepare::WhenComputed));
    HALFTONE_TRY(Execution lowered, run.others[turn.worker].start(feed, Prepare::WhenComputed));
    HALFTONE_CHECK(fill(std::move(reference), run.reference, run, turn));
    return fill(std::move(lowered), run.lowered, run, turn);
}

Result<void> KeptCompare::Impl::addIsolated(Run &run, const Turn &turn)
{
    if (m_layers.isKnown(run.alone, turn.batch))
        return {};
    HALFTONE_TRY(Execution reference,
                 m_references[turn.worker].start(m_batches[turn.batch], Prepare::WhenComputed));
    HALFTONE_CHECK(fill(reference.fork(), run.reference, run, turn));
    return m_layers.add(std::move(reference), batchOf(run, turn), run.alone);
}

/// Errors of the batches from `first` on, as many as there are workers.
Result<void> KeptCompare::Impl::addWave(Run &run, std::size_t first)
{
    HALFTONE_CHECK(sideBySide(run, first, [&](const Turn &turn) { return addErrors(run, turn); }));
    for (std::size_t k = first; k < std::min(first + run.workers, m_batches.size()); ++k)
        if (!isKnown(run, k))
            HALFTONE_CHECK(addCumulative(run, k));
    return {};
}

Result<std::optional<KeptCompare::Answer>> KeptCompare::Impl::compare(const ComparedModels &models,
                                                                      const CompareSettings &settings,
                                                                      const Progress &progress,
                                                                      const Interim &interim)
{
    m_computed = 0;
    if (settings.isolated)
        HALFTONE_CHECK(needTypes(models));
    HALFTONE_TRY(std::vector<interpret::Interpreter> others,
                 interpretersOf(models.other, m_backends, m_references.size()));
    Run run{models, settings, progress, interim, std::move(others)};
    run.workers = m_references.size();
    run.heads.resize(m_batches.size());
    {
        HALFTONE_TRY(const Execution reference, m_references[0].start(m_batches[0], Prepare::WhenComputed));
        HALFTONE_TRY(const Execution lowered, run.others[0].start(m_batches[0], Prepare::WhenComputed));
        if (!prepare(run, reference, lowered, settings.isolated))
            return std::optional<Answer>();
    }
    for (std::size_t first = 0; first < m_batches.size(); first += run.workers) {
        HALFTONE_CHECK(progress.checkStop());
        const bool wasKnown = isKnown(run, first);
        const Result<void> added = addWave(run, first);
        release(run, first);
        HALFTONE_CHECK(added);
        if (const auto unclean = firstUnclean(run))
            return std::optional(Answer{{}, {}, 0, unclean});
        run.batches = std::min(first + run.workers, m_batches.size());
        if (run.batches == m_batches.size() ? settings.isolated : !wasKnown)
            tellInterim(run);
    }
    for (std::size_t first = 0; settings.isolated && first < m_batches.size(); first += run.workers) {
        const Result<void> added
            = sideBySide(run, first, [&](const Turn &turn) { return addIsolated(run, turn); });
        release(run, first);
        HALFTONE_CHECK(added);
    }
    return std::optional(answerOf(run));
}

KeptCompare::KeptCompare(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
KeptCompare::KeptCompare(KeptCompare &&) noexcept = default;
KeptCompare &KeptCompare::operator=(KeptCompare &&) noexcept = default;
KeptCompare::~KeptCompare() = default;

Result<KeptCompare> KeptCompare::create(const graph::Model &reference, std::vector<Feed> batches,
                                        const kernels::BackendChain &backends, unsigned threads,
                                        unsigned sideBySide)
{
    const std::size_t workers
        = std::clamp<std::size_t>(sideBySide, 1, std::max<std::size_t>(batches.size(), 1));
    HALFTONE_TRY(std::vector<interpret::Interpreter> interpreters,
                 interpretersOf(reference, backends, workers));
    return KeptCompare(
        std::make_unique<Impl>(reference, std::move(batches), backends, threads, std::move(interpreters)));
}

Result<std::optional<KeptCompare::Answer>> KeptCompare::compare(const ComparedModels &models,
                                                                const CompareSettings &settings,
                                                                const Progress &progress,
                                                                const Interim &interim)
{
    return m_impl->compare(models, settings, progress, interim);
}

std::size_t KeptCompare::computedNodes() const
{
    return m_impl->computedNodes();
}

} // namespace halftone::compare
