#include "core/profile/kept_compare.h"

#include "core/base/pace.h"
#include "core/base/share_work.h"
#include "core/graph/traverse.h"
#include "core/infer/shown_outputs.h"
#include "core/profile/kept_layers.h"
#include "core/profile/output_rows.h"
#include "core/profile/value_spans.h"
#include "core/profile/value_store.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace halftone::profile {
namespace {

using graph::NodeId;
using interpret::Execution;
using interpret::Feed;
using interpret::Prepare;
using rewrite::kNoNode;
using tensor::DType;
using tensor::Tensor;
using Key = ValueKeys::Key;

/// Comparisons back whose values are still there, so that an undone edit costs next to nothing: two edits, since errors
/// and isolated errors are two comparisons.
constexpr std::uint64_t kGenerations = 4;

} // namespace

class KeptCompare::Impl
{
public:
    Impl(const graph::Model &reference, std::vector<Feed> batches, const kernels::BackendChain &backends,
         unsigned threads, interpret::Interpreter interpreter)
        : m_model(reference)
        , m_batches(std::move(batches))
        , m_backends(backends)
        , m_threads(threads)
        , m_reference(std::move(interpreter))
        , m_shown(infer::shownOutputs(reference.graph))
        , m_values(m_batches.size())
        , m_layers(m_model.graph, backends, m_batches.size())
    {
        for (const Feed &feed : m_batches) {
            for (const auto &[name, value] : feed)
                m_feedBytes += value.bytes().size();
        }
    }

    Result<std::optional<Answer>> compare(const ComparedModels &models, const CompareSettings &settings,
                                          const Progress &progress, const Interim &interim);

    std::size_t computedNodes() const { return m_computed; }

private:
    struct Run; // what one compare() works with

    bool makeRoom(const Run &run);
    void forgetOld();
    void expect(Run &run) const;
    bool prepare(Run &run, const Execution &reference, const Execution &lowered, bool isolated);
    bool isKnown(const Run &run, std::size_t batch) const;
    Result<void> fill(Execution execution, const KeptPlan &plan, Run &run);
    Result<void> addCumulative(const Run &run);
    Result<void> addErrors(Run &run);
    Result<void> addIsolated(Run &run);
    std::optional<LayerErrors> firstUnclean(const Run &run) const;
    KeptBatch batchOf(Run &run);
    Answer answerOf(const Run &run) const;
    void tellInterim(Run &run) const;
    std::vector<LayerErrors> layers(const Run &run) const;

    const graph::Model m_model;
    const std::vector<Feed> m_batches;
    const kernels::BackendChain m_backends;
    const unsigned m_threads;
    interpret::Interpreter m_reference;
    const std::vector<std::size_t> m_shown; ///< by NodeId
    std::size_t m_feedBytes = 0;

    ValueKeys m_keys;
    ValueStore m_values;
    std::map<std::pair<NodeId, Key>, KeptFigures> m_cumulative; ///< by the other's computation
    KeptLayers m_layers;
    std::size_t m_computed = 0;
};

struct KeptCompare::Impl::Run
{
    const ComparedModels &models;
    const CompareSettings &settings;
    const Progress &progress;
    const Interim &interim;
    interpret::Interpreter other;
    KeptPlan reference{};
    KeptPlan lowered{};
    std::size_t batch = 0;
    std::vector<LayerCompare::Heads> heads{}; ///< by batch
    std::size_t batches = 0; ///< whose errors are known
    KeptLayers::Asked alone{};
    double expected = 1, done = 0; ///< bytes to compute
    Pace pace{};

    void add(double bytes, std::string_view what)
    {
        done += bytes;
        progress.tell(std::min(1.0, done / expected), what);
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
bool KeptCompare::Impl::makeRoom(const Run &run)
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
    return m_values.makeRoom(needed, values, streamed > run.settings.memoryLimit ? streamed : others,
                             run.settings.memoryLimit);
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
        if (figures == m_cumulative.end() || figures->second.batches <= batch)
            return false;
    }
    return m_values.hasHeads(batch, m_model.graph, run.reference)
        && m_values.hasHeads(batch, run.models.other.graph, run.lowered);
}

/// Runs a model to its end, computing only what is not kept yet.
Result<void> KeptCompare::Impl::fill(Execution execution, const KeptPlan &plan, Run &run)
{
    KeptValues &values = m_values.of(run.batch);
    while (!execution.isDone()) {
        const NodeId node = execution.node();
        if (const auto known = values.find(plan.keys[node]); known != values.end()) {
            execution.give(known->second);
            continue;
        }
        HALFTONE_TRY(const interpret::NodeValue value, execution.step(run.progress));
        values.emplace(plan.keys[node], std::vector<Tensor>(value.outputs.begin(), value.outputs.end()));
        ++m_computed;
        run.add(static_cast<double>(plan.bytes[node]), "comparing");
    }
    LayerCompare::Heads &heads = run.heads[run.batch];
    (&plan == &run.reference ? heads.reference : heads.other) = execution.heads();
    return {};
}

/// Every layer's figures are added by one thread, so that they do not depend on how many there are.
Result<void> KeptCompare::Impl::addCumulative(const Run &run)
{
    const KeptValues &values = m_values.of(run.batch);
    std::vector<std::pair<NodeId, KeptFigures *>> added;
    for (const NodeId id : run.reference.order) {
        const Key answer = m_model.graph.isVariable(id) ? 0 : run.answer(id);
        if (answer == 0)
            continue;
        KeptFigures &figures
            = m_cumulative.try_emplace({id, answer}, KeptFigures{NodeRows(id, m_shown[id]), 0}).first->second;
        if (figures.batches == run.batch)
            added.emplace_back(id, &figures);
    }
    std::atomic<std::size_t> next = 0;
    shareWork(static_cast<unsigned>(std::clamp<std::size_t>(added.size(), 1, m_threads)), [&](unsigned) {
        for (std::size_t k = next++; k < added.size() && !run.progress.stopped(); k = next++) {
            const auto &[id, figures] = added[k];
            figures->rows.addCumulative(values.at(run.reference.keys[id]), values.at(run.answer(id)));
            figures->settle(m_batches.size());
        }
    });
    return run.progress.checkStop();
}

std::optional<LayerErrors> KeptCompare::Impl::firstUnclean(const Run &run) const
{
    for (const NodeId id : run.reference.order) {
        const bool isCompared = !m_model.graph.isVariable(id) && run.answer(id) != 0;
        if (auto unclean
            = isCompared ? m_cumulative.at({id, run.answer(id)}).rows.firstUnclean() : std::nullopt)
            return unclean;
    }
    return std::nullopt;
}

KeptBatch KeptCompare::Impl::batchOf(Run &run)
{
    return {run.models,
            run.reference,
            m_values.of(run.batch),
            run.heads[run.batch].reference,
            run.batch,
            run.progress,
            [this, &run](NodeId node) { run.add(0, m_model.graph.node(node).name); },
            [this] { ++m_computed; },
            [this, &run](NodeId node) {
                run.add(run.alone.bytes[node], m_model.graph.node(node).name);
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
        outputs.add(run.heads[batch]);
    Answer answer{
        conclude(layers(run), outputs.outputs(), run.settings.threshold), run.heads, run.batches, {}};
    answer.comparison.peakBytes = m_feedBytes + m_values.bytes();
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
        run.alone = m_layers.choose(run.models, run.reference, run.lowered);
    expect(run);
    return true;
}

/// Of one batch.
Result<void> KeptCompare::Impl::addErrors(Run &run)
{
    LayerCompare::Heads &heads = run.heads[run.batch];
    if (isKnown(run, run.batch)) {
        heads = {m_values.headsOf(run.batch, m_model.graph, run.reference),
                 m_values.headsOf(run.batch, run.models.other.graph, run.lowered)};
        return {};
    }
    HALFTONE_TRY(Execution reference, m_reference.start(m_batches[run.batch], Prepare::WhenComputed));
    HALFTONE_TRY(Execution lowered, run.other.start(m_batches[run.batch], Prepare::WhenComputed));
    HALFTONE_CHECK(fill(std::move(reference), run.reference, run));
    HALFTONE_CHECK(fill(std::move(lowered), run.lowered, run));
    return addCumulative(run);
}

Result<void> KeptCompare::Impl::addIsolated(Run &run)
{
    if (m_layers.isKnown(run.alone, run.batch))
        return {};
    HALFTONE_TRY(Execution reference, m_reference.start(m_batches[run.batch], Prepare::WhenComputed));
    HALFTONE_CHECK(fill(reference.fork(), run.reference, run));
    return m_layers.add(std::move(reference), batchOf(run), run.alone);
}

Result<std::optional<KeptCompare::Answer>> KeptCompare::Impl::compare(const ComparedModels &models,
                                                                      const CompareSettings &settings,
                                                                      const Progress &progress,
                                                                      const Interim &interim)
{
    m_computed = 0;
    if (settings.isolated)
        HALFTONE_CHECK(needTypes(models));
    HALFTONE_TRY(interpret::Interpreter other, interpret::Interpreter::create(models.other, m_backends));
    Run run{models, settings, progress, interim, std::move(other)};
    run.heads.resize(m_batches.size());
    {
        HALFTONE_TRY(const Execution reference, m_reference.start(m_batches[0], Prepare::WhenComputed));
        HALFTONE_TRY(const Execution lowered, run.other.start(m_batches[0], Prepare::WhenComputed));
        if (!prepare(run, reference, lowered, settings.isolated))
            return std::optional<Answer>();
    }
    for (; run.batch < m_batches.size(); ++run.batch) {
        HALFTONE_CHECK(progress.checkStop());
        const bool wasKnown = isKnown(run, run.batch);
        const Result<void> added = addErrors(run);
        m_values.release(run.batch);
        HALFTONE_CHECK(added);
        if (const auto unclean = firstUnclean(run))
            return std::optional(Answer{{}, {}, 0, unclean});
        const bool isLast = ++run.batches == m_batches.size();
        if (isLast ? settings.isolated : !wasKnown)
            tellInterim(run);
    }
    for (run.batch = 0; settings.isolated && run.batch < m_batches.size(); ++run.batch) {
        const Result<void> added = addIsolated(run);
        m_values.release(run.batch);
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
                                        const kernels::BackendChain &backends, unsigned threads)
{
    HALFTONE_TRY(interpret::Interpreter interpreter, interpret::Interpreter::create(reference, backends));
    return KeptCompare(
        std::make_unique<Impl>(reference, std::move(batches), backends, threads, std::move(interpreter)));
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

} // namespace halftone::profile
