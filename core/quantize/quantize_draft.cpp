#include "core/quantize/quantize_draft.h"

#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"
#include "core/graph/traverse.h"

#include <algorithm>
#include <map>
#include <optional>

namespace halftone::quantize {
namespace {

using dialect::Int8Kind;
using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;

/// A tensor of codes and the reals that its ends stand for.
struct Codes
{
    Entry code;
    Entry low;
    Entry high;
};

constexpr float kSignedCodes = 127.5F; ///< for the end of a range
constexpr float kUnsignedCodes = 255.5F;

class Quantizing
{
public:
    Quantizing(const QuantizationPlan &plan, const QuantizeOptions &options, const Deviations &deviations,
               const QuantizedRanges *ranges)
        : m_fused(plan.fused)
        , m_source(plan.fused.graph)
        , m_dialect(dialect::of(plan.fused.graph))
        , m_forms(*m_dialect.quantizedForms())
        , m_choice(plan.choice)
        , m_options(options)
        , m_deviations(deviations)
        , m_parameters(plan.parameters)
        , m_ranges(ranges)
        , m_reals(m_source.nodeCount())
        , m_codes(m_source.nodeCount())
        , m_hasRealReadersOnly(m_source.nodeCount(), true)
    {
    }

    QuantizedDraft run()
    {
        m_draft.graph = graph::Graph::like(m_source);
        const std::vector<NodeId> order = graph::postOrder(m_source);
        for (const NodeId id : order) {
            const std::size_t inputs = m_source.inputs(id).size();
            for (std::size_t i = 0; i < inputs; ++i) {
                if (m_choice.isQuantized[id] && !staysReal(id, i))
                    m_hasRealReadersOnly[m_source.inputs(id)[i].node] = false;
            }
        }
        for (const NodeId id : order) {
            if (m_choice.isQuantized[id])
                emitQuantized(id);
            else if (!m_source.isVariable(id))
                emitReal(id);
        }
        std::vector<Entry> heads;
        for (const Entry &head : m_source.heads())
            heads.push_back(real(head));
        m_draft.graph.setHeads(std::move(heads));
        return std::move(m_draft);
    }

private:
    using Kind = QuantizedOrigin::Kind;

    bool isFused(NodeId id) const { return !m_fused.members[id].empty(); }

    /// Is input `i` of an int8 node read as real numbers?
    bool staysReal(NodeId id, std::size_t i) const
    {
        const Int8Kind kind = kindOf(id);
        if (kind == Int8Kind::Convolution && isFused(id))
            return i > 0 && !(m_forms.hasSum(m_source.node(id)) && i + 1 == m_source.inputs(id).size());
        if (kind == Int8Kind::FullyConnected)
            return isFused(id) && isPerChannel(id) && i > 0;
        if (kind == Int8Kind::BatchNorm)
            return i > 0;
        return kind == Int8Kind::Embedding && i == 0;
    }

    Int8Kind kindOf(NodeId id) const { return m_forms.kindOf(mainOperator(m_dialect, m_source.node(id))); }

    /// A scale a channel cannot be passed on, so the node must rescale by itself: by a range that it knows.
    bool isPerChannel(NodeId id) const
    {
        const bool needsRange = m_options.isCalibrated || !m_options.asked.empty();
        return m_options.perChannel
            && (!needsRange || !m_ranges || m_ranges->contains(tensorOf({id, 0, 0}).source));
    }

    static bool givesSums(Int8Kind kind)
    {
        return dialect::isWeighted(kind) || kind == Int8Kind::Sum || kind == Int8Kind::Product;
    }

    ObservedTensor tensorOf(const Entry &entry) const
    {
        ObservedTensor tensor{m_dialect.entryName(m_source, entry), {}};
        if (isFused(entry.node)) {
            const Graph &body = *m_source.node(entry.node).subgraphs[0];
            tensor.source = m_dialect.entryName(body, body.heads()[0]);
        } else {
            tensor.source = tensor.name;
        }
        return tensor;
    }

    std::optional<QuantizedRange> observe(const Entry &entry)
    {
        if (!m_options.isCalibrated)
            return std::nullopt;
        ObservedTensor tensor = tensorOf(entry);
        if (std::ranges::find(m_draft.observed, tensor) == m_draft.observed.end())
            m_draft.observed.push_back(tensor);
        if (!m_ranges)
            return QuantizedRange{};
        const auto found = m_ranges->find(tensor.source);
        if (found == m_ranges->end()) {
            m_draft.missing.push_back(std::move(tensor.name));
            return std::nullopt;
        }
        return found->second;
    }

    void countLongText(const std::optional<QuantizedRange> &range)
    {
        m_draft.longTexts += range && m_forms.needsLongText(*range) ? 1 : 0;
    }

    /// The range of the result of an int8 node.
    void setResultRange(NodeId id, QuantizedRange range, dialect::Int8Form &form)
    {
        if (m_deviations.halvesCodes(m_fused.origins[id].front())) {
            // What the values reach is as far from zero as in int8.
            range = {0, range.high * kUnsignedCodes / kSignedCodes};
            form.mostCode = 127;
        }
        form.range = range;
        countLongText(range);
    }

    NodeId add(graph::NodeDefPtr def, const std::vector<Entry> &inputs, QuantizedOrigin origin,
               const std::vector<NodeId> &dependencies = {})
    {
        m_draft.origins.push_back(std::move(origin));
        return m_draft.graph.add(std::move(def), inputs, dependencies);
    }

    QuantizedOrigin originOf(Kind kind, const Entry &entry) const
    {
        return {kind, m_fused.origins[entry.node], entry.output, {}};
    }

    /// The type of codes made of reals or sums. `mayBeBelow`: the plain form's requantizations stay as MXNet writes them.
    ops::QuantizedType typeOf(const std::optional<QuantizedRange> &range, bool mayBeBelow,
                              const std::string &name)
    {
        using Type = ops::QuantizedType;
        if (m_options.codes != QuantizedCodes::UInt8)
            return m_options.codes == QuantizedCodes::Int8 ? Type::Int8 : Type::Auto;
        const bool isPlain = m_options.form == QuantizedForm::Plain;
        if (range ? range->low >= 0 || (isPlain && mayBeBelow) : isPlain)
            return Type::UInt8;
        m_draft.keptSigned.push_back(name);
        return Type::Int8;
    }

    /// The value as real numbers.
    Entry real(const Entry &entry)
    {
        std::optional<NodeId> &node = m_reals[entry.node];
        if (!node && m_codes[entry.node]) {
            const Codes &codes = *m_codes[entry.node];
            node = add(m_forms.makeDequantize(m_source.node(entry.node).name),
                       {codes.code, codes.low, codes.high}, originOf(Kind::Dequantize, entry));
        }
        if (!node) // a variable that is read for the first time
            node = add(m_source.sharedNode(entry.node), {}, originOf(Kind::Copy, entry));
        return {*node, entry.output, entry.version};
    }

    const Codes &codes(const Entry &entry)
    {
        if (m_codes[entry.node])
            return *m_codes[entry.node];
        const auto place = std::pair(entry.node, entry.output);
        const auto found = m_quantizers.find(place);
        if (found != m_quantizers.end())
            return found->second;
        const NodeDef &node = m_source.node(entry.node);
        if (node.isVariable() && m_parameters.contains(node.name)) {
            const std::string name = m_forms.codesName(node.name);
            const auto variable = [&](std::string called) {
                return Entry{add(m_dialect.makeVariable(std::move(called)), {}, originOf(Kind::Codes, entry)),
                             0, 0};
            };
            m_draft.offline.push_back({node.name, name});
            const Entry code = variable(name);
            const Entry low = variable(m_forms.lowName(name));
            return m_quantizers[place] = {code, low, variable(m_forms.highName(name))};
        }
        std::string name = node.name;
        if (const dialect::OpInfo *op = node.isVariable() ? nullptr : m_dialect.findOp(node.op))
            name += op->suffixOf(node.attributes, entry.output);
        const Entry input = real(entry);
        const auto range = observe(entry);
        countLongText(range);
        const NodeId id = add(m_forms.makeQuantize(name, typeOf(range, false, name), range), {input},
                              originOf(Kind::Quantize, entry));
        return m_quantizers[place] = {{id, 0, 0}, {id, 1, 0}, {id, 2, 0}};
    }

    void emitReal(NodeId id)
    {
        std::vector<Entry> inputs;
        for (const Entry &entry : m_source.inputs(id))
            inputs.push_back(real(entry));
        std::vector<NodeId> dependencies;
        for (const NodeId dependency : m_source.controlDependencies(id))
            dependencies.push_back(m_codes[dependency] ? m_codes[dependency]->code.node
                                                       : real({dependency, 0, 0}).node);
        m_reals[id] = add(m_source.sharedNode(id), inputs,
                          {Kind::Copy, m_fused.origins[id], 0, m_fused.reads[id]}, dependencies);
    }

    void emitQuantized(NodeId id)
    {
        const NodeDef &node = m_source.node(id);
        std::vector<Entry> inputs;
        std::vector<Entry> ends;
        const auto sources = m_source.inputs(id);
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (staysReal(id, i)) {
                inputs.push_back(real(sources[i]));
                continue;
            }
            const Codes &read = codes(sources[i]);
            inputs.push_back(read.code);
            ends.push_back(read.low);
            ends.push_back(read.high);
        }
        inputs.insert(inputs.end(), ends.begin(), ends.end());
        m_draft.quantized.push_back(node.name);
        finish(id, inputs);
    }

    QuantizedOrigin int8Origin(NodeId id) const
    {
        return {Kind::Int8, m_fused.origins[id], 0, m_fused.reads[id]};
    }

    void finish(NodeId id, const std::vector<Entry> &inputs)
    {
        const NodeDef &node = m_source.node(id);
        const Int8Kind kind = kindOf(id);
        dialect::Int8Form form{kind, isFused(id), kind == Int8Kind::FullyConnected && isPerChannel(id)};
        const bool isSum = givesSums(kind);
        const auto range = isSum || kind == Int8Kind::BatchNorm ? observe({id, 0, 0}) : std::nullopt;
        const bool mayBeReal = kind == Int8Kind::FullyConnected || kind == Int8Kind::Product;
        const bool isReal = mayBeReal && m_hasRealReadersOnly[id];
        // MXNet's products wrap around behind the last code, and groups want one scale for all weights: these become codes by
        // a node of their own.
        const bool takesRange = kind == Int8Kind::BatchNorm
            || (isSum && m_options.form == QuantizedForm::Onednn
                && (isFused(id) || kind != Int8Kind::Convolution) && (kind != Int8Kind::Product || isReal)
                && !m_deviations.givesSums(m_fused.origins[id].front()));
        if (range && takesRange) {
            if (isReal) {
                form.realOutput = true;
                m_reals[id] = add(m_forms.makeInt8(node, form), inputs, int8Origin(id));
                return;
            }
            setResultRange(id, *range, form);
        }
        NodeId last = add(m_forms.makeInt8(node, form), inputs, int8Origin(id));
        if (isSum && !(range && takesRange)) {
            countLongText(range);
            last = add(m_forms.makeRequantize(node.name, typeOf(range, true, node.name), range),
                       {{last, 0, 0}, {last, 1, 0}, {last, 2, 0}}, originOf(Kind::Requantize, {id, 0, 0}));
        }
        m_codes[id] = Codes{{last, 0, 0}, {last, 1, 0}, {last, 2, 0}};
    }

    const FusedGraph &m_fused;
    const Graph &m_source;
    const dialect::Dialect &m_dialect;
    const dialect::QuantizedForms &m_forms;
    const QuantizedChoice &m_choice;
    const QuantizeOptions &m_options;
    const Deviations &m_deviations;
    const std::unordered_set<std::string_view> &m_parameters;
    const QuantizedRanges *m_ranges;
    std::vector<std::optional<NodeId>> m_reals; ///< by source NodeId
    std::vector<std::optional<Codes>> m_codes; ///< by source NodeId, of quantized ones
    std::vector<bool> m_hasRealReadersOnly; ///< by source NodeId
    std::map<std::pair<NodeId, std::uint32_t>, Codes> m_quantizers; ///< of values that are real
    QuantizedDraft m_draft;
};

} // namespace

QuantizedDraft draftQuantized(const QuantizationPlan &plan, const QuantizeOptions &options,
                              const Deviations &deviations, const QuantizedRanges *ranges)
{
    return Quantizing(plan, options, deviations, ranges).run();
}

} // namespace halftone::quantize
