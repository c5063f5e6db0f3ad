#include "core/profile/kept_compare.h"

#include "core/graph/traverse.h"
#include "core/profile/layer_rows.h"
#include "core/profile/lowered_layer.h"
#include "core/profile/output_rows.h"
#include "core/profile/value_keys.h"
#include "core/profile/value_spans.h"
#include "core/runtime/shown_outputs.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

namespace halftone::profile {
namespace {

using graph::NodeId;
using passes::kNoNode;
using runtime::Execution;
using runtime::Feed;
using runtime::Prepare;
using tensor::DType;
using tensor::Tensor;
using Key = ValueKeys::Key;

/// Comparisons back whose values are still there, so that an undone edit costs next to nothing: two edits, since errors
/// and isolated errors are two comparisons.
constexpr std::uint64_t kGenerations = 4;

/// What every node of a graph gives for the first batch.
struct Plan
{
    std::vector<NodeId> order; ///< what the heads need, in topological order
    std::vector<Key> keys; ///< by NodeId; 0 for what no head needs
    std::vector<std::vector<DType>> types; ///< by NodeId, of its outputs
    std::vector<std::size_t> bytes; ///< by NodeId, of its outputs
    std::size_t allBytes = 0; ///< of nodes that are no variables
    std::size_t headBytes = 0;
    bool isOpen = false; ///< a shape depends on values
};

/// The figures of one node as they are added, batch after batch.
struct Collected
{
    NodeRows rows;
    std::size_t batches = 0; ///< added so far
};

/// The figures of one layer alone, for one form that it was lowered to.
struct Isolated
{
    LoweredForm form;
    Collected collected;
};

bool areSame(const LoweredForm &a, const LoweredForm &b)
{
    if (a.int8 || b.int8)
        return a.int8 && b.int8 && profile::areSame(*a.int8, *b.int8);
    return a.inputs == b.inputs && a.outputs == b.outputs
        && (a.node == b.node
            || (a.node->op == b.node->op && a.node->attributes == b.node->attributes
                && std::ranges::equal(a.node->subgraphs, b.node->subgraphs, [](const auto &x, const auto &y) {
                       return x == y || profile::areSame(*x, *y);
                   })));
}

std::size_t bytesOf(const Feed &feed)
{
    std::size_t bytes = 0;
    for (const auto &[name, value] : feed)
        bytes += value.bytes().size();
    return bytes;
}

Error cancelled()
{
    return {Errc::Cancelled, {}, {}, "stopped", {}};
}

} // namespace

class KeptCompare::Impl
{
public:
    Impl(const graph::Model &reference, std::vector<Feed> batches, const runtime::BackendChain &backends,
         runtime::Interpreter interpreter)
        : m_model(reference)
        , m_batches(std::move(batches))
        , m_backends(backends)
        , m_reference(std::move(interpreter))
        , m_shown(runtime::shownOutputs(reference.graph))
        , m_values(m_batches.size())
    {
        for (const Feed &feed : m_batches)
            m_feedBytes += bytesOf(feed);
    }

    Result<std::optional<Answer>> compare(const ComparedModels &models, const CompareSettings &settings,
                                          const Progress &progress);

    std::size_t computedNodes() const { return m_computed; }

private:
    using Values = std::unordered_map<Key, std::vector<Tensor>>;
    struct Run; // what one compare() works with

    Plan planOf(const graph::Model &model, const Execution &start, const Feed &feed);
    bool makeRoom(const Run &run);
    void forgetOld();
    void chooseIsolated(Run &run);
    void expect(Run &run) const;

    Result<void> fill(Execution execution, const Plan &plan, Run &run);
    Result<void> addCumulative(const Run &run);
    std::optional<LayerErrors> firstUnclean(const Run &run) const;
    Result<void> addIsolated(Execution execution, Run &run);
    Result<void> addLayer(const Execution &before, std::span<const Tensor> inputs, Collected &collected,
                          Run &run);
    Result<LoweredLayer *> loweredLayer(NodeId node, std::span<const Tensor> inputs, Run &run);
    Result<std::vector<Tensor>> headsWith(Execution rest, std::vector<Tensor> lowered, Run &run);

    std::vector<LayerErrors> layers(const Run &run) const;
    std::size_t keptBytes() const;
    void settle(Collected &collected) const;

    const graph::Model m_model;
    const std::vector<Feed> m_batches;
    const runtime::BackendChain m_backends;
    runtime::Interpreter m_reference;
    const std::vector<std::size_t> m_shown; ///< by NodeId
    std::size_t m_feedBytes = 0;

    ValueKeys m_keys;
    std::vector<Values> m_values; ///< by batch
    std::map<std::pair<NodeId, Key>, Collected> m_cumulative; ///< by the other's computation
    std::unordered_map<NodeId, std::vector<Isolated>> m_isolated;
    std::size_t m_computed = 0;
};

struct KeptCompare::Impl::Run
{
    const ComparedModels &models;
    const Progress &progress;
    std::size_t memoryLimit = 0;
    runtime::Interpreter other;
    Plan reference;
    Plan lowered;
    std::size_t batch = 0;
    std::vector<LayerCompare::Heads> heads; ///< by batch
    std::map<NodeId, std::size_t> alone; ///< layers wanted alone: which of m_isolated
    std::map<NodeId, std::optional<LoweredLayer>> layers;
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

/// Keys of all that the heads of a model need, which was started with `feed`.
Plan KeptCompare::Impl::planOf(const graph::Model &model, const Execution &start, const Feed &feed)
{
    const graph::Graph &graph = model.graph;
    std::unordered_map<std::string_view, const Tensor *> parameters;
    for (const tensor::Array &array : model.parameters) {
        if (array.shape.hasRank())
            parameters.insert_or_assign(graph::variableOf(array.name), &array.values);
    }
    const std::vector<std::size_t> shown = runtime::shownOutputs(graph);
    Plan plan;
    plan.order = graph::postOrder(graph);
    std::ranges::sort(plan.order); // NodeIds are in topological order
    plan.keys.resize(graph.nodeCount());
    plan.types.resize(graph.nodeCount());
    plan.bytes.resize(graph.nodeCount());
    for (const NodeId id : plan.order) {
        Computation computation{graph.sharedNode(id), {}, start.outputsOf(id), shown[id], {}};
        for (const graph::Entry &entry : graph.inputs(id))
            computation.inputs.emplace_back(plan.keys[entry.node], entry.output);
        for (const runtime::TensorDesc &output : computation.outputs) {
            const auto count = output.shape.elementCount();
            plan.isOpen = plan.isOpen || (!count && !graph.isVariable(id));
            plan.types[id].push_back(output.dtype);
            plan.bytes[id] += static_cast<std::size_t>(count.value_or(0)) * tensor::sizeOf(output.dtype);
        }
        const auto stored = parameters.find(graph.node(id).name);
        if (!graph.isVariable(id))
            plan.allBytes += plan.bytes[id];
        else if (stored != parameters.end() && !feed.contains(graph.node(id).name))
            computation.parameter = *stored->second;
        plan.keys[id] = m_keys.of(std::move(computation));
    }
    for (const graph::Entry &head : graph.heads())
        plan.headBytes += plan.bytes[head.node];
    return plan;
}

/// Is there room for all that is kept, and so much that LayerCompare would find room too, whichever way it goes? It would
/// take smaller batches otherwise, whose sums are not those of these.
bool KeptCompare::Impl::makeRoom(const Run &run)
{
    if (run.reference.isOpen || run.lowered.isOpen)
        return false;
    std::size_t around = 0; // a node, parameters too
    for (const NodeId id : run.reference.order) {
        std::size_t bytes = run.reference.bytes[id];
        for (const graph::Entry &entry : m_model.graph.inputs(id))
            bytes += run.reference.bytes[entry.node];
        around = std::max(around, bytes);
    }
    std::unordered_set<Key> needed;
    std::size_t values = 0;
    const auto need = [&](const graph::Graph &graph, const Plan &plan) {
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

void KeptCompare::Impl::chooseIsolated(Run &run)
{
    for (const NodeId id : run.reference.order) {
        if (m_model.graph.isVariable(id) || run.answer(id) == 0)
            continue;
        std::vector<DType> inputs;
        for (const graph::Entry &entry : m_model.graph.inputs(id))
            inputs.push_back(run.reference.types[entry.node][entry.output]);
        std::optional<LoweredForm> form = loweredForm(run.models, id, inputs, run.reference.types[id]);
        if (!form)
            continue;
        std::vector<Isolated> &known = m_isolated[id];
        const auto found = std::ranges::find_if(
            known, [&](const Isolated &isolated) { return areSame(isolated.form, *form); });
        run.alone[id] = static_cast<std::size_t>(found - known.begin());
        if (found == known.end())
            known.push_back({std::move(*form), {NodeRows(id, m_shown[id]), 0}});
    }
}

/// How many nodes are to be computed; of those behind a single layer half of the rest is taken.
void KeptCompare::Impl::expect(Run &run) const
{
    std::size_t nodes = 1;
    for (const Values &ofBatch : m_values) {
        for (const NodeId id : run.reference.order)
            nodes += !m_model.graph.isVariable(id) && !ofBatch.contains(run.reference.keys[id]);
        for (const NodeId id : run.lowered.order)
            nodes += !run.models.other.graph.isVariable(id) && !ofBatch.contains(run.lowered.keys[id]);
    }
    for (const auto &[node, which] : run.alone) {
        const std::size_t batches = m_batches.size() - m_isolated.at(node)[which].collected.batches;
        nodes += batches * (1 + (m_model.graph.nodeCount() - node) / 2);
    }
    run.expected = static_cast<double>(nodes);
}

/// Runs a model to its end, computing only what is not kept yet.
Result<void> KeptCompare::Impl::fill(Execution execution, const Plan &plan, Run &run)
{
    Values &values = m_values[run.batch];
    while (!execution.isDone()) {
        const Key key = plan.keys[execution.node()];
        if (const auto known = values.find(key); known != values.end()) {
            execution.give(known->second);
            continue;
        }
        HALFTONE_TRY(const runtime::NodeValue value, execution.step(run.progress));
        values.emplace(key, std::vector<Tensor>(value.outputs.begin(), value.outputs.end()));
        ++m_computed;
        ++run.done;
        run.progress.tell(std::min(1.0, run.done / run.expected), "comparing");
    }
    const bool isReference = &plan == &run.reference;
    (isReference ? run.heads[run.batch].reference : run.heads[run.batch].other) = execution.heads();
    return {};
}

void KeptCompare::Impl::settle(Collected &collected) const
{
    if (++collected.batches == m_batches.size())
        collected.rows.settle();
}

Result<void> KeptCompare::Impl::addCumulative(const Run &run)
{
    const Values &values = m_values[run.batch];
    for (const NodeId id : run.reference.order) {
        const Key answer = m_model.graph.isVariable(id) ? 0 : run.answer(id);
        if (answer == 0)
            continue;
        if (run.progress.stopped())
            return cancelled();
        Collected &collected
            = m_cumulative.try_emplace({id, answer}, Collected{NodeRows(id, m_shown[id]), 0}).first->second;
        if (collected.batches != run.batch)
            continue;
        collected.rows.addCumulative(values.at(run.reference.keys[id]), values.at(answer));
        settle(collected);
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

Result<void> KeptCompare::Impl::addIsolated(Execution execution, Run &run)
{
    const Values &values = m_values[run.batch];
    Int8Reads reads(run.models);
    while (!execution.isDone()) {
        const NodeId node = execution.node();
        if (reads.isPart(node))
            reads.keep(node, execution.inputs());
        if (const auto wanted = run.alone.find(node); wanted != run.alone.end()) {
            auto &[form, collected] = m_isolated.at(node)[wanted->second];
            const std::vector<Tensor> inputs = form.int8 ? reads.take(node) : execution.inputs();
            if (collected.batches == run.batch) {
                run.tell(node);
                HALFTONE_CHECK(addLayer(execution, inputs, collected, run));
                settle(collected);
            }
        }
        execution.give(values.at(run.reference.keys[node]));
    }
    return {};
}

/// `before` stands before the layer. Adds all figures or none.
Result<void> KeptCompare::Impl::addLayer(const Execution &before, std::span<const Tensor> inputs,
                                         Collected &collected, Run &run)
{
    const NodeId node = before.node();
    HALFTONE_TRY(LoweredLayer *const layer, loweredLayer(node, inputs, run));
    const std::vector<Tensor> &outputs = m_values[run.batch].at(run.reference.keys[node]);
    HALFTONE_TRY(std::vector<Tensor> lowered, layer->run(inputs, run.progress));
    lowered = completed(std::move(lowered), outputs);
    ++m_computed;
    ++run.done;
    const std::vector<Tensor> &heads = run.heads[run.batch].reference;
    std::vector<Tensor> changed;
    if (profile::areSame(outputs, lowered)) {
        changed = heads;
    } else if (std::ranges::equal(outputs, lowered, {}, &Tensor::shape, &Tensor::shape)) {
        HALFTONE_TRY(changed, headsWith(before.fork(), lowered, run));
    }
    collected.rows.addIsolated(outputs, lowered);
    if (!changed.empty())
        collected.rows.addIsolatedAtOutputs(heads, changed);
    return {};
}

Result<LoweredLayer *> KeptCompare::Impl::loweredLayer(NodeId node, std::span<const Tensor> inputs, Run &run)
{
    auto known = run.layers.find(node);
    if (known == run.layers.end()) {
        HALFTONE_TRY(
            std::optional<LoweredLayer> made,
            LoweredLayer::create(run.models, node, typesOf(inputs), run.reference.types[node], m_backends));
        known = run.layers.emplace(node, std::move(made)).first;
    }
    return &*known->second;
}

/// The reference's heads when its next node gives other values.
Result<std::vector<Tensor>> KeptCompare::Impl::headsWith(Execution rest, std::vector<Tensor> lowered,
                                                         Run &run)
{
    const Values &values = m_values[run.batch];
    std::vector<bool> isChanged(m_model.graph.nodeCount());
    isChanged[rest.node()] = true;
    rest.give(std::move(lowered));
    while (!rest.isDone()) {
        const NodeId node = rest.node();
        for (const graph::Entry &entry : m_model.graph.inputs(node))
            isChanged[node] = isChanged[node] || isChanged[entry.node];
        if (!isChanged[node]) {
            rest.give(values.at(run.reference.keys[node]));
            continue;
        }
        HALFTONE_CHECK(rest.step({run.progress.stop, {}}));
        ++m_computed;
        ++run.done;
    }
    return rest.heads();
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
        if (const auto alone = run.alone.find(id); alone != run.alone.end()) {
            const auto isolated = m_isolated.at(id)[alone->second].collected.rows.layers();
            for (std::size_t k = 0; k < rows.size(); ++k) {
                rows[k].isolated = isolated[k].isolated;
                rows[k].isolatedAtOutputs = isolated[k].isolatedAtOutputs;
                rows[k].shapesDiffer = rows[k].shapesDiffer || isolated[k].shapesDiffer;
            }
        }
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
    HALFTONE_TRY(runtime::Interpreter other, runtime::Interpreter::create(models.other, m_backends));
    Run run{models, progress, settings.memoryLimit, std::move(other), {}, {}, 0, {}, {}, {}};
    run.heads.resize(m_batches.size());
    for (; run.batch < m_batches.size(); ++run.batch) {
        const Feed &feed = m_batches[run.batch];
        HALFTONE_TRY(Execution reference, m_reference.start(feed, Prepare::WhenComputed));
        HALFTONE_TRY(Execution lowered, run.other.start(feed, Prepare::WhenComputed));
        if (run.batch == 0) {
            m_keys.nextGeneration();
            run.reference = planOf(m_model, reference, feed);
            run.lowered = planOf(models.other, lowered, feed);
            forgetOld();
            if (!makeRoom(run)) {
                m_values.assign(m_batches.size(), {});
                return std::optional<Answer>();
            }
            if (settings.isolated)
                chooseIsolated(run);
            expect(run);
        }
        HALFTONE_CHECK(fill(reference.fork(), run.reference, run));
        HALFTONE_CHECK(fill(std::move(lowered), run.lowered, run));
        HALFTONE_CHECK(addCumulative(run));
        if (const auto unclean = firstUnclean(run))
            return std::optional(Answer{{}, {}, unclean});
        if (settings.isolated)
            HALFTONE_CHECK(addIsolated(std::move(reference), run));
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
                                        const runtime::BackendChain &backends)
{
    HALFTONE_TRY(runtime::Interpreter interpreter, runtime::Interpreter::create(reference, backends));
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
