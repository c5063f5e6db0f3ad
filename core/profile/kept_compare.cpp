#include "core/profile/kept_compare.h"

#include "core/graph/traverse.h"
#include "core/infer/shown_outputs.h"
#include "core/profile/kept_layers.h"
#include "core/profile/output_rows.h"
#include "core/profile/value_spans.h"

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

std::size_t bytesOf(const Feed &feed)
{
    std::size_t bytes = 0;
    for (const auto &[name, value] : feed)
        bytes += value.bytes().size();
    return bytes;
}

} // namespace

class KeptCompare::Impl
{
public:
    Impl(const graph::Model &reference, std::vector<Feed> batches, const kernels::BackendChain &backends,
         interpret::Interpreter interpreter)
        : m_model(reference)
        , m_batches(std::move(batches))
        , m_backends(backends)
        , m_reference(std::move(interpreter))
        , m_shown(infer::shownOutputs(reference.graph))
        , m_values(m_batches.size())
        , m_layers(m_model.graph, backends, m_batches.size())
    {
        for (const Feed &feed : m_batches)
            m_feedBytes += bytesOf(feed);
    }

    Result<std::optional<Answer>> compare(const ComparedModels &models, const CompareSettings &settings,
                                          const Progress &progress);

    std::size_t computedNodes() const { return m_computed; }

private:
    using Values = KeptValues;
    struct Run; // what one compare() works with

    bool makeRoom(const Run &run);
    void forgetOld();
    void expect(Run &run) const;

    Result<void> fill(Execution execution, const KeptPlan &plan, Run &run);
    Result<void> addCumulative(const Run &run);
    std::optional<LayerErrors> firstUnclean(const Run &run) const;
    KeptBatch batchOf(Run &run);

    std::vector<LayerErrors> layers(const Run &run) const;
    std::size_t keptBytes() const;

    const graph::Model m_model;
    const std::vector<Feed> m_batches;
    const kernels::BackendChain m_backends;
    interpret::Interpreter m_reference;
    const std::vector<std::size_t> m_shown; ///< by NodeId
    std::size_t m_feedBytes = 0;

    ValueKeys m_keys;
    std::vector<Values> m_values; ///< by batch
    std::map<std::pair<NodeId, Key>, KeptFigures> m_cumulative; ///< by the other's computation
    KeptLayers m_layers;
    std::size_t m_computed = 0;
};

struct KeptCompare::Impl::Run
{
    const ComparedModels &models;
    const Progress &progress;
    std::size_t memoryLimit = 0;
    interpret::Interpreter other;
    KeptPlan reference;
    KeptPlan lowered;
    std::size_t batch = 0;
    std::vector<LayerCompare::Heads> heads; ///< by batch
    KeptLayers::Asked alone;
    double expected = 1; ///< nodes to compute
    double done = 0;

    void tell(NodeId node)
    {
        progress.tell(std::min(1.0, done / expected), models.reference.graph.node(node).name);
    }
    /// The computation that answers to a node of the reference; 0 for none.
    Key answer(NodeId node) const
    {
        const NodeId counterpart = models.counterpart[node];
        return counterpart == kNoNode ? 0 : lowered.keys[counterpart];
    }
};

/// Is there room for all that is kept, and so much that LayerCompare would find room too, whichever way it goes? It would
/// take smaller batches otherwise, whose sums are not those of these.
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
    const std::size_t kept = m_feedBytes + m_batches.size() * values + run.reference.allBytes + 2 * around;
    if (std::max(streamed, kept) > run.memoryLimit)
        return false;
    std::size_t old = 0;
    for (const Values &ofBatch : m_values) {
        for (const auto &[key, tensors] : ofBatch)
            old += needed.contains(key) ? 0 : profile::bytesOf(tensors);
    }
    if (kept + old > run.memoryLimit) {
        for (Values &ofBatch : m_values)
            std::erase_if(ofBatch, [&](const auto &value) { return !needed.contains(value.first); });
    }
    return true;
}

void KeptCompare::Impl::forgetOld()
{
    const std::vector<Key> forgotten = m_keys.forgetOlderThan(kGenerations);
    const std::unordered_set<Key> keys(forgotten.begin(), forgotten.end());
    if (keys.empty())
        return;
    for (Values &ofBatch : m_values)
        std::erase_if(ofBatch, [&](const auto &value) { return keys.contains(value.first); });
    std::erase_if(m_cumulative, [&](const auto &figures) { return keys.contains(figures.first.second); });
}

/// How many nodes are to be computed, about.
void KeptCompare::Impl::expect(Run &run) const
{
    std::size_t nodes = 1;
    for (const Values &ofBatch : m_values) {
        for (const NodeId id : run.reference.order)
            nodes += !m_model.graph.isVariable(id) && !ofBatch.contains(run.reference.keys[id]);
        for (const NodeId id : run.lowered.order)
            nodes += !run.models.other.graph.isVariable(id) && !ofBatch.contains(run.lowered.keys[id]);
    }
    nodes += m_layers.nodesToCompute(run.alone);
    run.expected = static_cast<double>(nodes);
}

/// Runs a model to its end, computing only what is not kept yet.
Result<void> KeptCompare::Impl::fill(Execution execution, const KeptPlan &plan, Run &run)
{
    Values &values = m_values[run.batch];
    while (!execution.isDone()) {
        const Key key = plan.keys[execution.node()];
        if (const auto known = values.find(key); known != values.end()) {
            execution.give(known->second);
            continue;
        }
        HALFTONE_TRY(const interpret::NodeValue value, execution.step(run.progress));
        values.emplace(key, std::vector<Tensor>(value.outputs.begin(), value.outputs.end()));
        ++m_computed;
        ++run.done;
        run.progress.tell(std::min(1.0, run.done / run.expected), "comparing");
    }
    const bool isReference = &plan == &run.reference;
    (isReference ? run.heads[run.batch].reference : run.heads[run.batch].other) = execution.heads();
    return {};
}

Result<void> KeptCompare::Impl::addCumulative(const Run &run)
{
    const Values &values = m_values[run.batch];
    for (const NodeId id : run.reference.order) {
        const Key answer = m_model.graph.isVariable(id) ? 0 : run.answer(id);
        if (answer == 0)
            continue;
        HALFTONE_CHECK(run.progress.checkStop());
        KeptFigures &figures
            = m_cumulative.try_emplace({id, answer}, KeptFigures{NodeRows(id, m_shown[id]), 0}).first->second;
        if (figures.batches != run.batch)
            continue;
        figures.rows.addCumulative(values.at(run.reference.keys[id]), values.at(answer));
        figures.settle(m_batches.size());
    }
    return {};
}

std::optional<LayerErrors> KeptCompare::Impl::firstUnclean(const Run &run) const
{
    for (const NodeId id : run.reference.order) {
        if (m_model.graph.isVariable(id) || run.answer(id) == 0)
            continue;
        if (auto unclean = m_cumulative.at({id, run.answer(id)}).rows.firstUnclean())
            return unclean;
    }
    return std::nullopt;
}

KeptBatch KeptCompare::Impl::batchOf(Run &run)
{
    return {run.models,
            run.reference,
            m_values[run.batch],
            run.heads[run.batch].reference,
            run.batch,
            run.progress,
            [&run](NodeId node) { run.tell(node); },
            [this, &run] {
                ++m_computed;
                ++run.done;
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

std::size_t KeptCompare::Impl::keptBytes() const
{
    std::size_t bytes = m_feedBytes;
    for (const Values &ofBatch : m_values) {
        for (const auto &[key, tensors] : ofBatch)
            bytes += profile::bytesOf(tensors);
    }
    return bytes;
}

Result<std::optional<KeptCompare::Answer>> KeptCompare::Impl::compare(const ComparedModels &models,
                                                                      const CompareSettings &settings,
                                                                      const Progress &progress)
{
    m_computed = 0;
    if (settings.isolated)
        HALFTONE_CHECK(needTypes(models));
    HALFTONE_TRY(interpret::Interpreter other, interpret::Interpreter::create(models.other, m_backends));
    Run run{models, progress, settings.memoryLimit, std::move(other), {}, {}, 0, {}, {}, {}};
    run.heads.resize(m_batches.size());
    for (; run.batch < m_batches.size(); ++run.batch) {
        const Feed &feed = m_batches[run.batch];
        HALFTONE_TRY(Execution reference, m_reference.start(feed, Prepare::WhenComputed));
        HALFTONE_TRY(Execution lowered, run.other.start(feed, Prepare::WhenComputed));
        if (run.batch == 0) {
            m_keys.nextGeneration();
            run.reference = keptPlanOf(m_model, reference, feed, m_keys);
            run.lowered = keptPlanOf(models.other, lowered, feed, m_keys);
            forgetOld();
            if (!makeRoom(run)) {
                m_values.assign(m_batches.size(), {});
                return std::optional<Answer>();
            }
            if (settings.isolated)
                run.alone = m_layers.choose(models, run.reference, run.lowered);
            expect(run);
        }
        HALFTONE_CHECK(fill(reference.fork(), run.reference, run));
        HALFTONE_CHECK(fill(std::move(lowered), run.lowered, run));
        HALFTONE_CHECK(addCumulative(run));
        if (const auto unclean = firstUnclean(run))
            return std::optional(Answer{{}, {}, unclean});
        if (settings.isolated)
            HALFTONE_CHECK(m_layers.add(std::move(reference), batchOf(run), run.alone));
    }
    OutputRows outputs(m_model.graph);
    for (const LayerCompare::Heads &heads : run.heads)
        outputs.add(heads);
    Answer answer{conclude(layers(run), outputs.outputs(), settings.threshold), std::move(run.heads), {}};
    answer.comparison.peakBytes = keptBytes();
    return std::optional(std::move(answer));
}

KeptCompare::KeptCompare(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
KeptCompare::KeptCompare(KeptCompare &&) noexcept = default;
KeptCompare &KeptCompare::operator=(KeptCompare &&) noexcept = default;
KeptCompare::~KeptCompare() = default;

Result<KeptCompare> KeptCompare::create(const graph::Model &reference, std::vector<Feed> batches,
                                        const kernels::BackendChain &backends)
{
    HALFTONE_TRY(interpret::Interpreter interpreter, interpret::Interpreter::create(reference, backends));
    return KeptCompare(
        std::make_unique<Impl>(reference, std::move(batches), backends, std::move(interpreter)));
}

Result<std::optional<KeptCompare::Answer>>
KeptCompare::compare(const ComparedModels &models, const CompareSettings &settings, const Progress &progress)
{
    return m_impl->compare(models, settings, progress);
}

std::size_t KeptCompare::computedNodes() const
{
    return m_impl->computedNodes();
}

} // namespace halftone::profile
