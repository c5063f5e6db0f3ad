#include "core/compare/int8_layer.h"

#include "core/base/text.h"
#include "core/compare/value_keys.h"
#include "core/compare/value_spans.h"
#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"
#include "core/dialect/stored_arrays.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <unordered_map>

namespace halftone::compare {
namespace {

using dialect::NodeRole;
using graph::Entry;
using graph::NodeDef;
using graph::NodeId;
using rewrite::kNoNode;
using tensor::DType;
using tensor::Tensor;

/// Every number with nine digits, as what joins codes tells it.
double nineDigits(double value)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return parseReal(text).value_or(value);
}

class Extraction
{
public:
    Extraction(const ComparedModels &models, NodeId node)
        : m_models(models)
        , m_other(models.other.graph)
        , m_dialect(dialect::of(models.other.graph))
        , m_forms(*m_dialect.quantizedForms())
        , m_layer(models.counterpart[node])
        , m_answers(m_other.nodeCount())
    {
        for (const NodeId counterpart : models.counterpart)
            if (counterpart != kNoNode)
                m_answers[counterpart] = true;
        for (NodeId member = 0; member <= node; ++member) {
            if (models.int8Group[member] != node)
                continue;
            for (const Entry &read : models.reference.graph.inputs(member)) {
                const NodeId counterpart = models.counterpart[read.node];
                if (models.int8Group[read.node] != node && counterpart != kNoNode)
                    m_sources.try_emplace({counterpart, read.output}, read);
            }
        }
        m_parameters = dialect::storedArrays(models.other);
    }

    std::optional<Int8Layer> run()
    {
        const DType type = m_models.types.at(m_layer, 0);
        m_made.model.graph = graph::Graph::like(m_other);
        auto head = copied(m_layer);
        if (head && !tensor::isFloat(type)) {
            const std::vector<Entry> codes{{*head, 0}, {*head, 1}, {*head, 2}};
            head = m_made.model.graph.add(m_forms.makeDequantize("reals"), codes);
        }
        if (!head || (tensor::isFloat(type) && type != DType::F32))
            return std::nullopt;
        m_made.model.graph.setHeads({{*head, 0}});
        m_made.model.hasParameters = true;
        return std::move(m_made);
    }

private:
    /// The node itself, on copies of what it reads.
    std::optional<NodeId> copied(NodeId id)
    {
        if (const auto known = m_copies.find(id); known != m_copies.end())
            return known->second;
        std::vector<Entry> inputs;
        const bool isQuantize = roleOf(id) == NodeRole::Quantize;
        for (const Entry &input : m_other.inputs(id)) {
            const auto copy = isQuantize ? real(input) : value(input);
            if (!copy)
                return std::nullopt;
            inputs.push_back(*copy);
        }
        const NodeId made = m_made.model.graph.add(m_other.sharedNode(id), inputs);
        m_copies.emplace(id, made);
        return made;
    }

    std::optional<Entry> value(const Entry &entry)
    {
        if (m_other.isVariable(entry.node))
            return real(entry);
        if (!m_answers[entry.node]) { // sums before they are requantized, what is quantized for this layer
            const NodeRole role = roleOf(entry.node);
            if (dialect::isCast(role) || role == NodeRole::Dequantize)
                return real(entry);
            const auto node = copied(entry.node);
            return node ? std::optional(Entry{*node, entry.output}) : std::nullopt;
        }
        const DType type = m_models.types.at(entry.node, 0);
        return type == DType::I8 || type == DType::U8 ? codes(entry, type) : real(entry);
    }

    /// Codes that another layer gives: the reference's value in that layer's range.
    std::optional<Entry> codes(const Entry &entry, DType type)
    {
        if (const auto known = m_copies.find(entry.node); known != m_copies.end())
            return Entry{known->second, entry.output};
        const auto range = rangeOf(entry.node);
        const auto source = range ? real({entry.node, 0}) : std::nullopt;
        if (!source)
            return std::nullopt;
        auto again = m_dialect.write(ops::Quantize{
            false, type == DType::I8 ? ops::QuantizedType::Int8 : ops::QuantizedType::UInt8, *range});
        if (!again.ok())
            return std::nullopt;
        auto text = std::move(again).value();
        const NodeId quantize = m_made.model.graph.add(
            std::make_shared<const NodeDef>(NodeDef{std::move(text.op),
                                                    m_other.node(entry.node).name + "_again",
                                                    std::move(text.attributes),
                                                    {}}),
            std::span(&*source, 1));
        m_copies.emplace(entry.node, quantize);
        return Entry{quantize, entry.output};
    }

    /// A parameter, or an input of the layer: the reference's value, without the casts and codes that others need.
    std::optional<Entry> real(Entry entry)
    {
        while (!m_answers[entry.node] && !m_other.isVariable(entry.node)) {
            const NodeRole role = roleOf(entry.node);
            if (role == NodeRole::Dequantize)
                entry = {m_other.inputs(entry.node)[0].node, 0};
            else if (dialect::isCast(role))
                entry = m_other.inputs(entry.node)[entry.output];
            else
                return std::nullopt;
        }
        const std::pair place{entry.node, entry.output};
        if (const auto known = m_inputs.find(place); known != m_inputs.end())
            return known->second;
        const auto parameter = m_other.isVariable(entry.node)
            ? m_parameters.find(m_other.node(entry.node).name)
            : m_parameters.end();
        const auto source = m_sources.find(place);
        NodeId variable = 0;
        if (parameter != m_parameters.end()) {
            variable = m_made.model.graph.add(m_other.sharedNode(entry.node), {});
            m_made.model.parameters.push_back(*parameter->second);
        } else if (source != m_sources.end()) {
            variable = m_made.model.graph.add(m_dialect.makeVariable(inputName(m_made.reads.size())), {});
            m_made.reads.push_back(source->second);
        } else {
            return std::nullopt;
        }
        return m_inputs.emplace(place, Entry{variable, 0}).first->second;
    }

    NodeRole roleOf(NodeId id) const { return dialect::roleOf(m_other, id); }

    /// Nothing for a range that no attribute tells; an empty one where each batch has its own.
    std::optional<ops::CalibratedRange> rangeOf(NodeId id) const
    {
        const NodeDef &def = m_other.node(id);
        const ops::CalibratedRange range = m_forms.rangeOf(def);
        if (range.low && range.high)
            return range;
        const auto read = m_dialect.read(def);
        const ops::Operator op = read.ok() ? read.value() : ops::Operator();
        if (op.is<ops::Quantized<ops::Pool>>() || op.is<ops::Quantized<ops::Activation>>()
            || op.is<ops::Quantized<ops::Flatten>>())
            return rangeOf(m_other.inputs(id)[0].node);
        if (op.is<ops::Quantized<ops::Concat>>())
            return joined(id);
        if (op.is<ops::Quantized<ops::Embedding>>())
            return std::nullopt;
        return ops::CalibratedRange();
    }

    std::optional<ops::CalibratedRange> joined(NodeId concat) const
    {
        double low = 0;
        double high = 0;
        const auto inputs = m_other.inputs(concat);
        for (std::size_t k = 0; k < inputs.size() / 3; ++k) {
            const auto range = rangeOf(inputs[k].node);
            if (!range || !range->low)
                return range;
            low = std::min(low, *range->low);
            high = std::max(high, *range->high);
            // Codes of int8 say a symmetric range.
            if (m_models.types.at(inputs[k].node, 0) == DType::I8) {
                const double most = std::max(-*range->low, *range->high);
                low = std::min(low, -most);
                high = std::max(high, most);
            }
        }
        return ops::CalibratedRange{nineDigits(low), nineDigits(high)};
    }

    const ComparedModels &m_models;
    const graph::Graph &m_other;
    const dialect::Dialect &m_dialect;
    const dialect::QuantizedForms &m_forms;
    NodeId m_layer;
    std::vector<bool> m_answers; ///< by the other's NodeId: gives the value of a node of the reference
    std::map<std::pair<NodeId, std::uint32_t>, Entry>
        m_sources; ///< by the other's value: what the layer reads
    dialect::StoredArrays m_parameters;
    std::unordered_map<NodeId, NodeId>
        m_copies; ///< by the other's node; where codes come from outside, what makes them
    std::map<std::pair<NodeId, std::uint32_t>, Entry> m_inputs; ///< by the other's value
    Int8Layer m_made;
};

} // namespace

std::string inputName(std::size_t k)
{
    return "int8_layer_input" + std::to_string(k);
}

std::optional<Int8Layer> int8Layer(const ComparedModels &models, NodeId node)
{
    if (models.int8Group.empty() || models.int8Group[node] != node || models.counterpart[node] == kNoNode
        || dialect::of(models.other.graph).quantizedForms() == nullptr)
        return std::nullopt;
    return Extraction(models, node).run();
}

bool areSame(const Int8Layer &a, const Int8Layer &b)
{
    return a.reads == b.reads && areSame(a.model.graph, b.model.graph)
        && std::ranges::equal(
               a.model.parameters, b.model.parameters, [](const tensor::Array &x, const tensor::Array &y) {
                   return x.name == y.name && areSame(std::span(&x.values, 1), std::span(&y.values, 1));
               });
}

Int8Reads::Int8Reads(const ComparedModels &models)
    : m_models(models)
{
    for (NodeId node = 0; node < models.int8Group.size(); ++node) {
        auto layer = int8Layer(models, node);
        if (!layer)
            continue;
        for (const Entry &read : layer->reads)
            ++m_layers[{read.node, read.output}];
        m_reads.emplace(node, std::move(layer->reads));
    }
}

void Int8Reads::keep(NodeId node, std::span<const Tensor> inputs)
{
    if (!isPart(node))
        return;
    const auto entries = m_models.reference.graph.inputs(node);
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const Place place{entries[k].node, entries[k].output};
        if (const auto layers = m_layers.find(place); layers != m_layers.end())
            m_kept.try_emplace(place, Kept{inputs[k], layers->second});
    }
}

std::vector<Tensor> Int8Reads::take(NodeId node)
{
    std::vector<Tensor> values;
    const auto reads = m_reads.find(node);
    if (reads == m_reads.end())
        return values;
    for (const Entry &read : reads->second) {
        const auto kept = m_kept.find({read.node, read.output});
        values.push_back(kept->second.value);
        if (--kept->second.layers == 0)
            m_kept.erase(kept);
    }
    return values;
}

std::size_t Int8Reads::bytes() const
{
    std::size_t bytes = 0;
    for (const auto &[place, kept] : m_kept)
        bytes += kept.value.bytes().size();
    return bytes;
}

} // namespace halftone::compare
