#include "core/passes/quantize.h"

#include "core/base/text.h"
#include "core/dialect/mxnet/entry_name.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/graph/traverse.h"
#include "core/passes/quantize_align.h"
#include "core/passes/quantize_choice.h"
#include "core/passes/quantize_fuse.h"
#include "core/passes/quantize_params.h"
#include "core/passes/quantize_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

namespace halftone::passes {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeDef;
using graph::NodeId;
namespace mx = dialect::mxnet;

/// A tensor of codes and the reals that its ends stand for.
struct Codes
{
    Entry code;
    Entry low;
    Entry high;
};

class Quantizing
{
public:
    /// ranges: null to find out which are needed
    Quantizing(const FusedGraph &fused, const QuantizedChoice &choice, const QuantizeOptions &options,
               const std::unordered_set<std::string_view> &parameters, const QuantizedRanges *ranges)
        : m_fused(fused)
        , m_source(fused.graph)
        , m_choice(choice)
        , m_options(options)
        , m_parameters(parameters)
        , m_ranges(ranges)
        , m_reals(fused.graph.nodeCount())
        , m_codes(fused.graph.nodeCount())
        , m_hasRealReadersOnly(fused.graph.nodeCount(), true)
    {
    }

    Result<void> run()
    {
        m_graph.setMetadata(m_source.metadata());
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
        m_graph.setHeads(std::move(heads));
        return {};
    }

    Graph &graph() { return m_graph; }
    const std::vector<OfflineParameter> &offline() const { return m_offline; }
    const std::vector<ObservedTensor> &observed() const { return m_observed; }
    std::vector<std::string> &quantized() { return m_quantized; }
    const std::vector<std::string> &missing() const { return m_missing; }
    std::size_t longTexts() const { return m_longTexts; }
    std::vector<QuantizedOrigin> &origins() { return m_origins; }

private:
    using Kind = QuantizedOrigin::Kind;

    bool isFused(NodeId id) const { return !m_fused.members[id].empty(); }

    /// Is input `i` of an int8 node read as real numbers?
    bool staysReal(NodeId id, std::size_t i) const
    {
        const std::string_view op = mainOperator(m_source.node(id));
        if (op == "Convolution" && isFused(id)) {
            const bool hasSum = m_source.node(id).attributes.find("with_sum") != nullptr;
            return i > 0 && !(hasSum && i + 1 == m_source.inputs(id).size());
        }
        if (op == "FullyConnected")
            return isFused(id) && isPerChannel(id) && i > 0;
        if (op == "BatchNorm")
            return i > 0;
        return op == "Embedding" && i == 0;
    }

    /// A scale a channel cannot be passed on, so the node must rescale by itself: by a range that it knows.
    bool isPerChannel(NodeId id) const
    {
        const bool needsRange = m_options.isCalibrated || !m_options.asked.empty();
        return m_options.perChannel
            && (!needsRange || !m_ranges || m_ranges->contains(tensorOf({id, 0, 0}).source));
    }

    static bool givesSums(std::string_view op)
    {
        return op == "Convolution" || op == "FullyConnected" || op == "elemwise_add" || op == "elemwise_mul";
    }

    ObservedTensor tensorOf(const Entry &entry) const
    {
        ObservedTensor tensor{mx::entryName(m_source, entry), {}};
        if (isFused(entry.node)) {
            const Graph &body = *m_source.node(entry.node).subgraphs[0];
            tensor.source = mx::entryName(body, body.heads()[0]);
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
        if (std::ranges::find(m_observed, tensor) == m_observed.end())
            m_observed.push_back(tensor);
        if (!m_ranges)
            return QuantizedRange{};
        const auto found = m_ranges->find(tensor.source);
        if (found == m_ranges->end()) {
            m_missing.push_back(std::move(tensor.name));
            return std::nullopt;
        }
        return found->second;
    }

    void setRange(graph::Attributes &attributes, const QuantizedRange &range)
    {
        m_longTexts += setCalibratedRange(attributes, range) ? 1 : 0;
    }

    NodeId add(std::string op, std::string name, graph::Attributes attributes,
               const std::vector<Entry> &inputs, QuantizedOrigin origin)
    {
        auto def = std::make_shared<NodeDef>();
        def->op = std::move(op);
        def->name = std::move(name);
        def->attributes = std::move(attributes);
        return add(std::move(def), inputs, std::move(origin));
    }

    NodeId add(graph::NodeDefPtr def, const std::vector<Entry> &inputs, QuantizedOrigin origin,
               const std::vector<NodeId> &dependencies = {})
    {
        m_origins.push_back(std::move(origin));
        return m_graph.add(std::move(def), inputs, dependencies);
    }

    QuantizedOrigin originOf(Kind kind, const Entry &entry) const
    {
        return {kind, m_fused.origins[entry.node], entry.output, {}};
    }

    std::string outType() const
    {
        return m_options.codes == QuantizedCodes::Int8 ? "int8"
            : m_options.codes == QuantizedCodes::UInt8 ? "uint8"
                                                       : "auto";
    }

    /// The value as real numbers.
    Entry real(const Entry &entry)
    {
        std::optional<NodeId> &node = m_reals[entry.node];
        if (!node && m_codes[entry.node]) {
            const Codes &codes = *m_codes[entry.node];
            node = add("_contrib_dequantize", m_source.node(entry.node).name + "_dequantize", {},
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
            const std::string name = node.name + "_quantize";
            const auto variable = [&](const std::string &suffix) {
                return Entry{
                    add(std::string(graph::kVariableOp), name + suffix, {}, {}, originOf(Kind::Codes, entry)),
                    0, 0};
            };
            m_offline.push_back({node.name, name});
            return m_quantizers[place] = {variable(""), variable("_min"), variable("_max")};
        }
        std::string name = node.name;
        if (const mx::OpInfo *op = node.isVariable() ? nullptr : mx::findOp(node.op))
            name += mx::castSuffix(*op, node.attributes, entry.output);
        graph::Attributes attributes{{"out_type", outType()}};
        const Entry input = real(entry);
        if (const auto range = observe(entry))
            setRange(attributes, *range);
        const NodeId id = add("_contrib_quantize_v2", name + "_quantize", std::move(attributes), {input},
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

    std::string operatorOf(NodeId id, std::string_view op) const
    {
        static const std::map<std::string_view, std::string_view> kNames{
            {"Convolution", "_contrib_quantized_conv"},
            {"FullyConnected", "_contrib_quantized_fully_connected"},
            {"Pooling", "_contrib_quantized_pooling"},
            {"Activation", "_contrib_quantized_act"},
            {"BatchNorm", "_contrib_quantized_batch_norm"},
            {"Concat", "_contrib_quantized_concat"},
            {"Flatten", "_contrib_quantized_flatten"},
            {"elemwise_add", "_contrib_quantized_elemwise_add"},
            {"elemwise_mul", "_contrib_quantized_elemwise_mul"},
            {"Embedding", "_contrib_quantized_embedding"}};
        return isFused(id) ? m_source.node(id).op : std::string(kNames.at(op));
    }

    void emitQuantized(NodeId id)
    {
        const NodeDef &node = m_source.node(id);
        const std::string_view op = mainOperator(node);
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
        auto def = std::make_shared<NodeDef>(node);
        def->op = operatorOf(id, op);
        def->name = "quantized_" + node.name;
        if (isFused(id)) {
            def->attributes.set("quantized", op == "Convolution" ? "true" : "True");
            if (op == "FullyConnected" && isPerChannel(id))
                def->attributes.set("channel_wise_quantize", "True");
        }
        m_quantized.push_back(node.name);
        finish(id, op, std::move(def), inputs);
    }

    QuantizedOrigin int8Origin(NodeId id) const
    {
        return {Kind::Int8, m_fused.origins[id], 0, m_fused.reads[id]};
    }

    void finish(NodeId id, std::string_view op, std::shared_ptr<NodeDef> def,
                const std::vector<Entry> &inputs)
    {
        const bool isSum = givesSums(op);
        const auto range = isSum || op == "BatchNorm" ? observe({id, 0, 0}) : std::nullopt;
        const bool takesRange = op == "BatchNorm"
            || (isSum && m_options.form == QuantizedForm::Onednn && (isFused(id) || op != "Convolution"));
        if (range && takesRange) {
            const bool mayBeReal = op == "FullyConnected" || op == "elemwise_mul";
            if (mayBeReal && m_hasRealReadersOnly[id]) {
                def->attributes.set("enable_float_output", "True");
                m_reals[id] = add(std::move(def), inputs, int8Origin(id));
                return;
            }
            setRange(def->attributes, *range);
        }
        NodeId last = add(std::move(def), inputs, int8Origin(id));
        if (isSum && !(range && takesRange)) {
            graph::Attributes attributes{{"out_type", outType()}};
            if (range)
                setRange(attributes, *range);
            last = add("_contrib_requantize", "requantize_" + m_source.node(id).name, std::move(attributes),
                       {{last, 0, 0}, {last, 1, 0}, {last, 2, 0}}, originOf(Kind::Requantize, {id, 0, 0}));
        }
        m_codes[id] = Codes{{last, 0, 0}, {last, 1, 0}, {last, 2, 0}};
    }

    const FusedGraph &m_fused;
    const Graph &m_source;
    const QuantizedChoice &m_choice;
    const QuantizeOptions &m_options;
    const std::unordered_set<std::string_view> &m_parameters;
    const QuantizedRanges *m_ranges;
    Graph m_graph;
    std::vector<std::optional<NodeId>> m_reals; ///< by source NodeId
    std::vector<std::optional<Codes>> m_codes; ///< by source NodeId, of quantized ones
    std::vector<bool> m_hasRealReadersOnly; ///< by source NodeId
    std::map<std::pair<NodeId, std::uint32_t>, Codes> m_quantizers; ///< of values that are real
    std::vector<OfflineParameter> m_offline;
    std::vector<QuantizedOrigin> m_origins; ///< by NodeId of m_graph
    std::vector<ObservedTensor> m_observed;
    std::vector<std::string> m_quantized;
    std::vector<std::string> m_missing;
    std::size_t m_longTexts = 0;
};

/// What both entry points begin with.
struct Prepared
{
    FusedGraph fused;
    QuantizedChoice choice;
    std::unordered_set<std::string_view> parameters;
};

Result<Prepared> prepare(const graph::Model &model, const QuantizeOptions &options)
{
    Prepared prepared;
    if (options.form == QuantizedForm::Onednn) {
        HALFTONE_TRY(prepared.fused, fuseForQuantization(model.graph, {options.asked, options.apart}));
    } else {
        prepared.fused = unfused(model.graph);
    }
    HALFTONE_TRY(prepared.choice, chooseQuantized(prepared.fused, model.graph, options));
    for (const tensor::Array &array : model.parameters)
        prepared.parameters.insert(graph::variableOf(array.name));
    return prepared;
}

QuantizedRanges widened(QuantizedRanges ranges, const QuantizeOptions &options)
{
    for (auto &[name, range] : ranges) {
        // 127 levels for amax in a scheme that spends 127.5 on the range that it is told, and 255 likewise.
        const bool isOneSided = options.codes != QuantizedCodes::Int8 && range.low >= 0;
        const float factor = isOneSided ? 255.5F / 255 : 127.5F / 127;
        range.low *= factor;
        range.high *= factor;
    }
    return ranges;
}

} // namespace

Result<std::vector<ObservedTensor>> tensorsToObserve(const graph::Model &model,
                                                     const QuantizeOptions &options)
{
    HALFTONE_TRY(const Prepared prepared, prepare(model, options));
    Quantizing quantizing(prepared.fused, prepared.choice, options, prepared.parameters, nullptr);
    HALFTONE_CHECK(quantizing.run());
    return quantizing.observed();
}

Result<QuantizedModel> quantize(const graph::Model &model, const QuantizeOptions &options,
                                const QuantizedRanges &ranges)
{
    if (!model.hasParameters)
        return badInput("parameters", "none", "weights to quantize");
    HALFTONE_TRY(Prepared prepared, prepare(model, options));
    const QuantizedRanges used = options.isNeutral ? widened(ranges, options) : ranges;
    Quantizing quantizing(prepared.fused, prepared.choice, options, prepared.parameters, &used);
    HALFTONE_CHECK(quantizing.run());
    QuantizedModel result;
    for (const ObservedTensor &tensor : quantizing.observed()) {
        if (const auto found = used.find(tensor.source); found != used.end())
            result.thresholds.push_back({tensor, found->second});
    }
    if (options.form == QuantizedForm::Onednn)
        alignConcatRanges(quantizing.graph());
    result.model.graph = std::move(quantizing.graph());
    result.quantized = std::move(quantizing.quantized());
    result.skipped = std::move(prepared.choice.skipped);
    result.origins = std::move(quantizing.origins());
    result.dropped = std::move(prepared.fused.dropped);
    if (!quantizing.missing().empty())
        result.notes.push_back("no calibrated range, so found at run time: " + joined(quantizing.missing()));
    if (quantizing.longTexts() > 0)
        result.notes.push_back(std::to_string(quantizing.longTexts())
                               + " ranges are written with nine significant digits, since MXNet's six digits "
                                 "behind the point would lose some");
    HALFTONE_TRY(result.model.parameters,
                 quantizedParameters(model, result.model.graph, quantizing.offline(), result.notes));
    result.model.hasParameters = true;
    return result;
}

} // namespace halftone::passes
