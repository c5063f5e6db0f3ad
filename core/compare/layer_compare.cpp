#include "core/compare/layer_compare.h"

#include "core/compare/compared_parts.h"
#include "core/compare/layer_rows.h"
#include "core/compare/lowered_layer.h"
#include "core/compare/output_rows.h"
#include "core/compare/value_spans.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace halftone::compare {
namespace {

using graph::NodeId;
using interpret::Execution;
using rewrite::kNoNode;
using tensor::DType;
using tensor::Tensor;

/// Values that one side has and the other one has not come to.
class Waiting
{
public:
    void put(NodeId node, std::vector<Tensor> values, std::size_t readers)
    {
        m_bytes += bytesOf(values);
        m_values.insert_or_assign(node, Entry{std::move(values), readers});
    }
    const std::vector<Tensor> *find(NodeId node) const
    {
        const auto found = m_values.find(node);
        return found == m_values.end() ? nullptr : &found->second.values;
    }
    void read(NodeId node)
    {
        const auto found = m_values.find(node);
        if (--found->second.readers > 0)
            return;
        m_bytes -= bytesOf(found->second.values);
        m_values.erase(found);
    }
    std::size_t bytes() const { return m_bytes; }

private:
    struct Entry
    {
        std::vector<Tensor> values;
        std::size_t readers = 0;
    };
    std::unordered_map<NodeId, Entry> m_values;
    std::size_t m_bytes = 0;
};

} // namespace

class LayerCompare::Impl
{
public:
    static Result<std::unique_ptr<Impl>> create(const ComparedModels &models,
                                                const kernels::BackendChain &backends,
                                                const CompareSettings &settings)
    {
        if (settings.isolated && settings.whole)
            return unsupported(Field::Effect, "a runtime does not compute single layers",
                               "cumulative errors");
        if (settings.isolated)
            HALFTONE_CHECK(needTypes(models));
        HALFTONE_TRY(interpret::Interpreter reference,
                     interpret::Interpreter::create(models.reference, backends));
        std::optional<interpret::Interpreter> other;
        if (!settings.whole) {
            HALFTONE_TRY(other,
                         interpret::Interpreter::create(
                             models.other, settings.otherBackends.empty() ? backends : settings.otherBackends,
                             models.float16As));
        }
        return std::unique_ptr<Impl>(
            new Impl(models, backends, settings, std::move(reference), std::move(other)));
    }

    Result<Room> add(const interpret::Feed &feed, const Progress &progress,
                     const kernels::FilledBatch &filling)
    {
        m_filling = filling;
        m_fixed = interpret::feedBytes(feed) + m_rows.bytes(m_settings.isolated);
        m_heads = {};
        // A pass through one model costs 1: both in step 2, a layer at a time about half a pass for each.
        constexpr double kInStep = 2;
        const auto nodes = static_cast<double>(m_models.reference.graph.nodeCount());
        const double whole = kInStep + (m_settings.isolated ? nodes / 2 : 0);
        const auto part = [&](double from, double share) {
            return Progress{progress.stop,
                            [&progress, from, share, whole](double done, std::string_view what) {
                                progress.tell((from + done * share) / whole, what);
                            }};
        };
        HALFTONE_TRY(Room room,
                     m_settings.whole ? runWhole(feed, part(0, kInStep)) : runBoth(feed, part(0, kInStep)));
        if (room == Room::Enough && m_settings.isolated && !firstUnclean()) {
            HALFTONE_TRY(room, runIsolated(feed, part(kInStep, whole - kInStep)));
        }
        return room;
    }

    const Heads &heads() const { return m_heads; }
    std::optional<LayerErrors> firstUnclean() const
    {
        const std::optional<LayerErrors> head = uncleanHead(m_models.reference.graph, m_heads.reference);
        const std::optional<LayerErrors> first = head ? m_rows.firstUnclean() : std::nullopt;
        return first ? first : head;
    }

    void forget()
    {
        m_rows = LayerRows(m_models.reference.graph);
        m_outputs = OutputRows(m_models.reference.graph);
        m_peak = 0;
    }

    Comparison result() const
    {
        Comparison result = conclude(m_rows.layers(), m_outputs.outputs(), m_settings.threshold);
        result.peakBytes = m_peak;
        return result;
    }

    ComparedParts parts() const { return {m_rows.parts(), m_outputs.parts(), m_peak}; }

private:
    Impl(const ComparedModels &models, const kernels::BackendChain &backends, const CompareSettings &settings,
         interpret::Interpreter reference, std::optional<interpret::Interpreter> other)
        : m_models(models)
        , m_backends(settings.otherBackends.empty() ? backends : settings.otherBackends)
        , m_settings(settings)
        , m_reference(std::move(reference))
        , m_other(std::move(other))
        , m_reads(m_models)
        , m_rows(models.reference.graph)
        , m_outputs(models.reference.graph)
    {
        for (NodeId id = 0; id < m_models.counterpart.size(); ++id) {
            if (m_models.counterpart[id] != kNoNode && !m_models.reference.graph.isVariable(id))
                m_answersTo[m_models.counterpart[id]].push_back(id);
        }
    }

    interpret::Prepare prepare() const
    {
        return m_settings.keepsKernels ? interpret::Prepare::Ahead : interpret::Prepare::Once;
    }

    /// Is there room for `more` bytes beside those held? Remembers the most that was.
    bool hasRoom(std::size_t held, std::size_t more)
    {
        const std::size_t total = m_fixed + held + more;
        if (total > m_settings.memoryLimit)
            return false;
        m_peak = std::max(m_peak, total);
        return true;
    }

    Result<std::vector<Tensor>> shown(const interpret::NodeValue &value, NodeId node) const
    {
        const std::size_t count = std::min(m_rows.shownOutputs(node), value.outputs.size());
        return own(value.outputs.first(count));
    }

    /// What counts of values.
    Result<std::vector<Tensor>> own(std::span<const Tensor> values) const
    {
        std::vector<Tensor> own(values.begin(), values.end());
        if (!m_filling.isFilled())
            return own;
        for (Tensor &value : own) {
            HALFTONE_TRY(value, kernels::ownPart(value, m_filling));
        }
        return own;
    }

    Result<Room> runBoth(const interpret::Feed &feed, const Progress &progress)
    {
        HALFTONE_TRY(Execution reference, m_reference.start(feed, prepare()));
        HALFTONE_TRY(Execution other, m_other->start(feed, prepare()));
        Waiting ofReference;
        Waiting ofOther;
        const auto held
            = [&] { return reference.ownBytes() + other.ownBytes() + ofReference.bytes() + ofOther.bytes(); };
        while (!reference.isDone() || !other.isDone()) {
            progress.tell(reference.shareDone(), "comparing");
            NodeId node = kNoNode;
            if (!reference.isDone()) {
                if (!hasRoom(held(), reference.nextBytes()))
                    return Room::TooSmall;
                node = reference.node();
                HALFTONE_TRY(const interpret::NodeValue value, reference.step(progress));
                HALFTONE_CHECK(takeReference(value, ofReference, ofOther));
            }
            // The other one follows up to the node that answers to it; what it makes on the way may wait.
            while (!other.isDone() && (reference.isDone() || ofReference.find(node) != nullptr)) {
                if (!hasRoom(held(), other.nextBytes()))
                    return Room::TooSmall;
                HALFTONE_TRY(const interpret::NodeValue value, other.step(progress));
                HALFTONE_CHECK(takeOther(value, ofReference, ofOther));
            }
        }
        HALFTONE_TRY(m_heads.reference, own(reference.heads()));
        HALFTONE_TRY(m_heads.other, own(other.heads()));
        m_outputs.add(m_heads, feed);
        return Room::Enough;
    }

    /// Values of the reference that have a counterpart.
    struct Expected
    {
        NodeId node = kNoNode;
        std::vector<Tensor> values; ///< freed once they were compared
        std::vector<Tensor> other;
        std::size_t come = 0; ///< of `other`
    };

    /// All values of the reference first, then the other model's, which come in groups.
    Result<Room> runWhole(const interpret::Feed &feed, const Progress &progress)
    {
        std::vector<Expected> expected;
        HALFTONE_TRY(Execution reference, m_reference.start(feed, prepare()));
        std::size_t bytes = 0;
        while (!reference.isDone()) {
            progress.tell(reference.shareDone() / 2, "comparing");
            if (!hasRoom(reference.ownBytes() + bytes, reference.nextBytes()))
                return Room::TooSmall;
            HALFTONE_TRY(const interpret::NodeValue value, reference.step(progress));
            if (m_models.counterpart[value.node] == kNoNode)
                continue;
            HALFTONE_TRY(std::vector<Tensor> values, shown(value, value.node));
            bytes += bytesOf(values);
            expected.push_back({value.node, std::move(values), {}, 0});
        }
        HALFTONE_TRY(m_heads.reference, own(reference.heads()));
        HALFTONE_TRY(const std::vector<Tensor> heads, m_settings.whole->heads(feed, progress));
        HALFTONE_TRY(m_heads.other, own(heads));
        m_outputs.add(m_heads, feed);
        HALFTONE_CHECK(compareValues(feed, expected, progress));
        return Room::Enough;
    }

    Result<void> compareValues(const interpret::Feed &feed, std::vector<Expected> &expected,
                               const Progress &progress)
    {
        std::vector<graph::Entry> wanted;
        std::vector<std::pair<std::size_t, std::size_t>> places; // in `expected`, and which output
        for (std::size_t k = 0; k < expected.size(); ++k) {
            expected[k].other.resize(expected[k].values.size());
            for (std::size_t output = 0; output < expected[k].values.size(); ++output) {
                wanted.push_back(
                    {m_models.counterpart[expected[k].node], static_cast<std::uint32_t>(output), 0});
                places.emplace_back(k, output);
            }
        }
        const auto take = [&](std::size_t place, const Tensor &value) -> Result<void> {
            Expected &one = expected[places[place].first];
            one.other[places[place].second] = value;
            if (++one.come < one.values.size())
                return {};
            HALFTONE_TRY(const std::vector<Tensor> others, own(one.other));
            m_rows.of(one.node).addCumulative(one.values, others);
            one.values.clear();
            one.other.clear();
            return {};
        };
        return m_settings.whole->values(feed, wanted, take, progress);
    }

    Result<void> takeReference(const interpret::NodeValue &value, Waiting &ofReference, Waiting &ofOther)
    {
        const NodeId counterpart = m_models.counterpart[value.node];
        if (counterpart == kNoNode)
            return {};
        if (const auto *there = ofOther.find(counterpart); there != nullptr) {
            HALFTONE_TRY(const std::vector<Tensor> values, own(value.outputs));
            m_rows.of(value.node).addCumulative(values, *there);
            ofOther.read(counterpart);
        } else {
            HALFTONE_TRY(std::vector<Tensor> values, shown(value, value.node));
            ofReference.put(value.node, std::move(values), 1);
        }
        return {};
    }

    Result<void> takeOther(const interpret::NodeValue &value, Waiting &ofReference, Waiting &ofOther)
    {
        const auto found = m_answersTo.find(value.node);
        if (found == m_answersTo.end())
            return {};
        HALFTONE_TRY(const std::vector<Tensor> values, own(value.outputs)); // with the ranges of codes
        std::size_t toCome = 0;
        for (const NodeId node : found->second) {
            if (const auto *there = ofReference.find(node); there != nullptr) {
                m_rows.of(node).addCumulative(*there, values);
                ofReference.read(node);
            } else {
                ++toCome;
            }
        }
        if (toCome > 0) {
            HALFTONE_TRY(std::vector<Tensor> kept, shown(value, found->second.front()));
            ofOther.put(value.node, std::move(kept), toCome);
        }
        return {};
    }

    /// Steps to the end. `held`: bytes that others hold meanwhile.
    Result<Room> finish(Execution &run, std::size_t held, const Progress &progress)
    {
        while (!run.isDone()) {
            if (!hasRoom(held + run.ownBytes(), run.nextBytes()))
                return Room::TooSmall;
            HALFTONE_CHECK(run.step(progress));
        }
        return Room::Enough;
    }

    Result<Room> runIsolated(const interpret::Feed &feed, const Progress &progress)
    {
        HALFTONE_TRY(Execution run, m_reference.start(feed, prepare()));
        m_reads.clear();
        const std::size_t heads = bytesOf(m_heads.reference) + bytesOf(m_heads.other);
        while (!run.isDone()) {
            const NodeId node = run.node();
            progress.tell(run.shareDone(), m_models.reference.graph.node(node).name);
            std::vector<Tensor> inputs;
            if (m_models.counterpart[node] != kNoNode || m_reads.isPart(node))
                inputs = run.inputs();
            m_reads.keep(node, inputs);
            if (!hasRoom(heads + m_reads.bytes() + bytesOf(inputs) + run.ownBytes(), run.nextBytes()))
                return Room::TooSmall;
            HALFTONE_TRY(const interpret::NodeValue value, run.step(progress));
            if (m_models.counterpart[node] == kNoNode)
                continue;
            HALFTONE_TRY(LoweredLayer *const layer, loweredLayer(node, inputs, value.outputs));
            if (layer == nullptr)
                continue;
            if (layer->isInt8())
                inputs = m_reads.take(node);
            // The layer's casts copy its inputs and outputs.
            const std::size_t held = heads + m_reads.bytes() + run.ownBytes();
            if (!hasRoom(held, 2 * bytesOf(inputs) + 2 * bytesOf(value.outputs)))
                return Room::TooSmall;
            HALFTONE_TRY(std::vector<Tensor> lowered, layer->run(inputs, progress));
            inputs.clear();
            if (!m_settings.keepsKernels)
                m_lowered.erase(node);
            lowered = completed(std::move(lowered), value.outputs);
            HALFTONE_TRY(const Room room, addLowered(run, value, std::move(lowered), held, progress));
            if (room == Room::TooSmall)
                return room;
        }
        return Room::Enough;
    }

    /// Errors of a lowered layer, at its own output and at the heads. `run` stands behind the layer.
    Result<Room> addLowered(const Execution &run, const interpret::NodeValue &value,
                            std::vector<Tensor> lowered, std::size_t held, const Progress &progress)
    {
        HALFTONE_TRY(const std::vector<Tensor> before, own(value.outputs));
        HALFTONE_TRY(const std::vector<Tensor> after, own(lowered));
        m_rows.of(value.node).addIsolated(before, after);
        if (areSame(value.outputs, lowered)) {
            m_rows.of(value.node).addIsolatedAtOutputs(m_heads.reference, m_heads.reference);
            return Room::Enough;
        }
        const bool sameShapes
            = std::ranges::equal(value.outputs, lowered, {}, &Tensor::shape, &Tensor::shape);
        if (!sameShapes) // the rest of the network was prepared for others; its row says so
            return Room::Enough;
        Execution rest = run.fork();
        rest.replace(value.node, std::move(lowered));
        HALFTONE_TRY(const Room room, finish(rest, held, {progress.stop, {}}));
        if (room == Room::Enough) {
            HALFTONE_TRY(const std::vector<Tensor> heads, own(rest.heads()));
            m_rows.of(value.node).addIsolatedAtOutputs(m_heads.reference, heads);
        }
        return room;
    }

    /// Null for a node in which nothing is lowered.
    Result<LoweredLayer *> loweredLayer(NodeId node, std::span<const Tensor> inputs,
                                        std::span<const Tensor> outputs)
    {
        const auto known = m_lowered.find(node);
        if (known == m_lowered.end()) {
            HALFTONE_TRY(std::optional<LoweredLayer> made,
                         LoweredLayer::create(m_models, node, typesOf(inputs), typesOf(outputs), m_backends));
            m_lowered.emplace(node, std::move(made));
        }
        std::optional<LoweredLayer> &layer = m_lowered.at(node);
        return layer ? &*layer : nullptr;
    }

    const ComparedModels m_models;
    const kernels::BackendChain m_backends;
    const CompareSettings m_settings;
    interpret::Interpreter m_reference;
    std::optional<interpret::Interpreter> m_other; ///< absent where CompareSettings::whole runs it
    std::unordered_map<NodeId, std::vector<NodeId>> m_answersTo; ///< by the other's node: the reference's
    std::map<NodeId, std::optional<LoweredLayer>> m_lowered; ///< by the reference's node
    Int8Reads m_reads;
    LayerRows m_rows;
    OutputRows m_outputs;
    Heads m_heads;
    kernels::FilledBatch m_filling; ///< of the batch
    std::size_t m_fixed = 0; ///< bytes of the batch's inputs, and of figures
    std::size_t m_peak = 0;
};

LayerCompare::LayerCompare(std::unique_ptr<Impl> impl)
    : m_impl(std::move(impl))
{
}
LayerCompare::LayerCompare(LayerCompare &&) noexcept = default;
LayerCompare::~LayerCompare() = default;

Result<LayerCompare> LayerCompare::create(const ComparedModels &models, const kernels::BackendChain &backends,
                                          const CompareSettings &settings)
{
    HALFTONE_TRY(std::unique_ptr<Impl> impl, Impl::create(models, backends, settings));
    return LayerCompare(std::move(impl));
}

Result<Room> LayerCompare::add(const interpret::Feed &feed, const Progress &progress,
                               const kernels::FilledBatch &filling)
{
    return m_impl->add(feed, progress, filling);
}

const LayerCompare::Heads &LayerCompare::heads() const
{
    return m_impl->heads();
}

void LayerCompare::forget()
{
    m_impl->forget();
}

std::optional<LayerErrors> LayerCompare::firstUnclean() const
{
    return m_impl->firstUnclean();
}

Comparison LayerCompare::result() const
{
    return m_impl->result();
}

ComparedParts LayerCompare::parts() const
{
    return m_impl->parts();
}

} // namespace halftone::compare
