#include "core/io/tflite/body_draft.h"

#include "core/base/text.h"
#include "core/dialect/tflite/tflite_dialect.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <utility>

namespace halftone::io::tflite {
namespace {

namespace names = dialect::tflite;
using graph::Entry;
using tensor::DType;
using tensor::Tensor;

constexpr std::string_view kActivationKey = "fused_activation_function";
constexpr std::string_view kQuantizationKey = "quantization";

std::string_view nameIn(DType type)
{
    return type == DType::Unknown ? "?" : tensor::nameOf(type);
}

template <class T>
Tensor vectorOf(DType type, const std::vector<T> &values, bool isScalar)
{
    std::vector<std::byte> bytes(values.size() * tensor::sizeOf(type));
    constexpr DType kFrom = std::is_integral_v<T> ? DType::I64 : DType::F32;
    tensor::convert(kFrom, reinterpret_cast<const std::byte *>(values.data()), values.size(), type,
                    bytes.data());
    tensor::Shape shape = isScalar ? tensor::Shape(std::vector<std::int64_t>())
                                   : tensor::Shape{static_cast<std::int64_t>(values.size())};
    return Tensor::owning(type, std::move(shape), std::move(bytes));
}

} // namespace

BodyDraft::BodyDraft(const graph::NodeDef &node, std::span<const TensorFacts *const> inputs,
                     std::span<const TensorFacts *const> outputs)
    : m_node(node)
    , m_inputs(inputs)
    , m_outputs(outputs)
    , m_graph(names::tfliteDialect())
{
}

std::optional<std::size_t> BodyDraft::position(std::size_t slot) const
{
    const auto found = std::ranges::find(m_node.slots, slot);
    if (found == m_node.slots.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - m_node.slots.begin());
}

std::int64_t BodyDraft::option(std::string_view key) const
{
    const std::string *const text = m_node.attributes.find(key);
    return text == nullptr ? 0 : parseInteger(*text).value_or(0);
}

float BodyDraft::realOption(std::string_view key) const
{
    const std::string *const text = m_node.attributes.find(key);
    return text == nullptr ? 0 : static_cast<float>(parseReal(*text).value_or(0));
}

std::string BodyDraft::name(std::string_view op)
{
    return std::string(op) + '_' + std::to_string(m_count++);
}

/// Short lists of integers, which say what a node computes, are constants of the body.
Entry BodyDraft::raw(std::size_t slot)
{
    constexpr std::size_t kShort = 64;
    const std::size_t place = *position(slot);
    const auto known = m_raw.find(place);
    if (known != m_raw.end())
        return known->second;
    const auto &values = m_inputs[place]->values;
    if (values && values->dtype() == DType::I32 && !m_inputs[place]->codes
        && values->elementCount() <= kShort)
        return m_raw.emplace(place, constant(*values)).first->second;
    graph::NodeDef def;
    def.op = names::kVariableOp;
    def.name = "input_" + std::to_string(place);
    def.variable = true;
    def.outputs.push_back(def.name);
    def.attributes.set(std::string(names::kBodyInputKey), std::to_string(place));
    const Entry entry{m_graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), {}), 0, 0};
    m_raw.emplace(place, entry);
    m_types[entry.node] = m_inputs[place]->type;
    return entry;
}

Entry BodyDraft::constant(Tensor values)
{
    const DType type = values.dtype();
    auto def = names::tfliteDialect().makeConstant(name("CONSTANT"), std::move(values));
    const graph::NodeId id = m_graph.add(std::move(def), {});
    m_types[id] = type;
    return {id, 0, 0};
}

Entry BodyDraft::constant(float value)
{
    return constant(vectorOf(DType::F32, std::vector{value}, true));
}

Entry BodyDraft::add(std::string_view op, graph::Attributes attributes, Inputs inputs, DType type,
                     std::size_t outputs)
{
    graph::NodeDef def;
    def.op = op;
    def.name = name(op);
    def.attributes = std::move(attributes);
    std::string types;
    for (std::size_t k = 0; k < outputs; ++k) {
        types.append(k > 0 ? "," : "").append(nameIn(type));
        def.outputs.push_back(k == 0 ? def.name : def.name + '_' + std::to_string(k));
    }
    def.attributes.set(std::string(names::kTypesKey), std::move(types));
    def.attributes.set(std::string(names::kInputTypesKey), typesOf(inputs));
    for (std::uint32_t slot = 0; slot < inputs.size(); ++slot)
        def.slots.push_back(slot);
    const graph::NodeId id = m_graph.add(std::make_shared<const graph::NodeDef>(std::move(def)), inputs);
    m_types[id] = type;
    return {id, 0, 0};
}

std::string BodyDraft::typesOf(Inputs entries) const
{
    std::string types;
    for (const Entry &entry : entries)
        types.append(types.empty() ? "" : ",").append(nameIn(m_types.at(entry.node)));
    return types;
}

graph::Attributes BodyDraft::options() const
{
    graph::Attributes attributes = m_node.attributes;
    for (const std::string_view key :
         {kActivationKey, kQuantizationKey, names::kTypesKey, names::kInputTypesKey})
        attributes.erase(key);
    return attributes;
}

Entry BodyDraft::decoded(Entry codes, const Codes &how, DType type)
{
    const bool isScalar = how.scales.size() == 1;
    if (type == DType::I16 && isScalar) {
        const Entry reals = add("CAST", {}, {codes});
        const Entry zero = constant(static_cast<float>(how.zeros[0]));
        return add("MUL", {},
                   {how.zeros[0] == 0 ? reals : add("SUB", {}, {reals, zero}), constant(how.scales[0])});
    }
    std::vector<Entry> inputs{codes, constant(vectorOf(DType::F32, how.scales, isScalar))};
    if (std::ranges::any_of(how.zeros, [](std::int64_t zero) { return zero != 0; }))
        inputs.push_back(constant(vectorOf(type, how.zeros, isScalar)));
    graph::Attributes attributes;
    attributes.set(std::string(names::kAxisKey), std::to_string(how.axis));
    return add("DEQUANTIZE", std::move(attributes), inputs);
}

/// QUANTIZE makes codes of 8 bits; longer ones are rounded, cut and cast.
Entry BodyDraft::coded(Entry reals, const Codes &how, DType type)
{
    const bool isScalar = how.scales.size() == 1;
    const Entry scales = constant(vectorOf(DType::F32, how.scales, isScalar));
    if (type == DType::I32 || type == DType::I16) {
        const float least = type == DType::I16 ? -32768.0F : -2147483648.0F;
        const float most = type == DType::I16 ? 32767.0F : 2147483520.0F; // the largest float32 below 2^31
        const Entry zero = constant(static_cast<float>(how.zeros[0]));
        const Entry whole = add("ADD", {}, {add("ROUND", {}, {add("DIV", {}, {reals, scales})}), zero});
        const Entry cut = add("MINIMUM", {}, {add("MAXIMUM", {}, {whole, constant(least)}), constant(most)});
        return add("CAST", {}, {cut}, type);
    }
    graph::Attributes attributes;
    attributes.set(std::string(names::kAxisKey), std::to_string(how.axis));
    return add("QUANTIZE", std::move(attributes),
               {reals, scales, constant(vectorOf(type, how.zeros, isScalar))}, type);
}

Entry BodyDraft::real(std::size_t slot)
{
    const std::size_t place = *position(slot);
    if (const auto known = m_real.find(place); known != m_real.end())
        return known->second;
    const TensorFacts &tensor = *m_inputs[place];
    Entry entry = raw(slot);
    if (tensor.codes)
        entry = decoded(entry, *tensor.codes, tensor.type);
    else if (tensor.type == DType::F16)
        entry = add("CAST", {}, {entry});
    m_real.emplace(place, entry);
    return entry;
}

Entry BodyDraft::stored(Entry reals, std::size_t slot)
{
    const TensorFacts &tensor = facts(slot);
    return tensor.codes ? decoded(coded(reals, *tensor.codes, tensor.type), *tensor.codes, tensor.type)
                        : reals;
}

Entry BodyDraft::bias(std::size_t slot)
{
    const TensorFacts &tensor = facts(slot);
    if (tensor.codes || tensor.type != DType::I32 || !facts(0).codes || !facts(1).codes)
        return real(slot);
    Codes codes = *facts(1).codes;
    for (float &scale : codes.scales)
        scale *= facts(0).codes->scales[0];
    codes.zeros.assign(codes.scales.size(), 0);
    codes.axis = 0;
    return decoded(raw(slot), codes, tensor.type);
}

Entry BodyDraft::activated(Entry value)
{
    static constexpr std::array<std::string_view, 4> kOperators{"RELU", "RELU_N1_TO_1", "RELU6", "TANH"};
    const std::string *const text = m_node.attributes.find(kActivationKey);
    if (text == nullptr || std::ranges::find(kOperators, *text) == kOperators.end())
        return value;
    const auto &type = m_outputs[0]->codes ? DType::F32 : m_outputs[0]->type;
    return add(*text, {}, {value}, type);
}

void BodyDraft::give(Entry value)
{
    const TensorFacts &output = *m_outputs[m_heads.size()];
    m_heads.push_back(output.codes ? coded(value, *output.codes, output.type) : value);
}

void BodyDraft::giveAsIs(Entry value)
{
    m_heads.push_back(value);
}

graph::Graph BodyDraft::finish()
{
    m_graph.setHeads(std::move(m_heads));
    return std::move(m_graph);
}

} // namespace halftone::io::tflite
