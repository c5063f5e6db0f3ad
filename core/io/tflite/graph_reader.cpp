#include "core/io/tflite/graph_reader.h"

#include "core/base/text.h"
#include "core/dialect/tflite/node_fields.h"
#include "core/dialect/tflite/op_info.h"
#include "core/dialect/tflite/tflite_dialect.h"
#include "core/io/tflite/body_draft.h"

#include <algorithm>
#include <array>
#include <utility>

namespace halftone::io::tflite {
namespace {

namespace names = dialect::tflite;
using graph::Entry;
using graph::NodeDef;

constexpr std::size_t kNameShown = 80; ///< of a name in an error
constexpr std::size_t kMostZeroBytes = std::size_t{1} << 28; ///< of all states together
constexpr std::size_t kMostTextBytes = std::size_t{1} << 28;
constexpr std::size_t kMostBodyNodes = std::size_t{1} << 20;
constexpr std::string_view kQuantizedKey = "quantization";

template <class T>
std::size_t sizeOf(const T *vector)
{
    return vector == nullptr ? 0 : vector->size();
}

/// Codes before 127 stand in the older field as well; later ones only in the newer one.
int codeOf(const schema::OperatorCode &code)
{
    return std::max<int>(code.builtin_code(), code.deprecated_builtin_code());
}

std::string typesOf(std::span<const TensorFacts *const> tensors)
{
    std::string types;
    for (const TensorFacts *const tensor : tensors) {
        types.append(types.empty() ? "" : ",");
        types.append(tensor->type == tensor::DType::Unknown ? "?" : tensor::nameOf(tensor->type));
    }
    return types;
}

/// What constant inputs say of the operator, as attributes, so that it is known without values.
void describeConstants(NodeDef &def, std::span<const TensorFacts *const> inputs)
{
    static constexpr std::array<std::string_view, 11> kKeys{"axes",     "axis",  "shape",  "permutation",
                                                            "paddings", "size",  "begin",  "end",
                                                            "strides",  "sizes", "repeats"};
    constexpr std::size_t kMostValues = 64;
    const names::OpInfo *const info = names::operatorNamed(def.op);
    for (std::size_t k = 0; info != nullptr && k < inputs.size(); ++k) {
        const std::string key = info->inputName(def.attributes, def.slots[k]);
        const auto &values = inputs[k]->values;
        if (def.slots[k] == 1 && info->slotRole(def.attributes, 1) == dialect::SlotRole::Weight)
            def.attributes.set(std::string(names::kWeightShapeKey), names::listText(inputs[k]->shape));
        if (!values || values->dtype() != tensor::DType::I32 || values->elementCount() > kMostValues
            || std::ranges::find(kKeys, key) == kKeys.end())
            continue;
        const std::vector<std::int32_t> held = values->values<std::int32_t>();
        def.attributes.set(key, names::listText(std::vector<std::int64_t>(held.begin(), held.end())));
    }
}

} // namespace

GraphReader::GraphReader(const Source &source, const schema::SubGraph &graph, std::stop_token stop)
    : m_source(source)
    , m_proto(graph)
    , m_stop(std::move(stop))
{
    m_model.graph = graph::Graph(names::tfliteDialect());
    m_model.hasParameters = true;
}

Result<graph::Model> GraphReader::read()
{
    HALFTONE_CHECK(readTensors());
    nameTensors();
    HALFTONE_CHECK(readInitialValues());
    HALFTONE_CHECK(addInputs());
    for (std::size_t k = 0; k < sizeOf(m_proto.operators()); ++k) {
        if (m_stop.stop_requested())
            return cancelled();
        HALFTONE_CHECK(addOperator(*m_proto.operators()->Get(static_cast<flatbuffers::uoffset_t>(k)), k));
    }
    std::vector<Entry> heads;
    for (std::size_t k = 0; k < sizeOf(m_proto.outputs()); ++k) {
        const std::string where = "output " + std::to_string(k);
        HALFTONE_TRY(const std::size_t tensor,
                     tensorAt(m_proto.outputs()->Get(static_cast<flatbuffers::uoffset_t>(k)), where));
        HALFTONE_TRY(const Entry head, entryOf(tensor, where));
        heads.push_back(head);
    }
    m_model.graph.setHeads(std::move(heads));
    return std::move(m_model);
}

Result<void> GraphReader::readTensors()
{
    for (std::size_t k = 0; k < sizeOf(m_proto.tensors()); ++k) {
        const schema::Tensor &tensor = *m_proto.tensors()->Get(static_cast<flatbuffers::uoffset_t>(k));
        std::string where = "tensor " + std::to_string(k);
        if (tensor.name() != nullptr && tensor.name()->size() > 0)
            where += " \"" + printable(tensor.name()->str(), kNameShown) + '"';
        HALFTONE_TRY(TensorFacts facts, readTensor(m_source, tensor, where));
        HALFTONE_CHECK(count(facts.name.size() + (facts.codes ? 12 * facts.codes->scales.size() : 0), where));
        m_tensors.push_back(std::move(facts));
    }
    m_entries.resize(m_tensors.size());
    return {};
}

Result<void> GraphReader::count(std::size_t bytes, const std::string &where)
{
    m_textBytes += bytes;
    if (m_textBytes > kMostTextBytes)
        return badInput(where, "names, scales and options of more than " + humanBytes(kMostTextBytes),
                        "a smaller model");
    return {};
}

std::string GraphReader::uniqueName(const std::string &wanted)
{
    std::string name = wanted;
    for (std::size_t &k = m_nextSuffix[wanted]; !m_taken.insert(name).second;)
        name = wanted + '_' + std::to_string(++k);
    return name;
}

/// Inputs and outputs first, so that they keep their names.
void GraphReader::nameTensors()
{
    m_names.resize(m_tensors.size());
    const auto nameIt = [this](std::int64_t tensor, const std::string &otherwise) {
        if (tensor < 0 || tensor >= std::ssize(m_tensors))
            return;
        std::string &name = m_names[static_cast<std::size_t>(tensor)];
        const TensorFacts &facts = m_tensors[static_cast<std::size_t>(tensor)];
        if (name.empty())
            name = uniqueName(facts.name.empty() ? otherwise : facts.name);
    };
    for (std::size_t k = 0; k < sizeOf(m_proto.inputs()); ++k)
        nameIt(m_proto.inputs()->Get(static_cast<flatbuffers::uoffset_t>(k)), "input_" + std::to_string(k));
    for (std::size_t k = 0; k < sizeOf(m_proto.outputs()); ++k)
        nameIt(m_proto.outputs()->Get(static_cast<flatbuffers::uoffset_t>(k)), "output_" + std::to_string(k));
    for (std::int64_t k = 0; k < std::ssize(m_tensors); ++k)
        nameIt(k, "tensor_" + std::to_string(k));
}

Result<std::size_t> GraphReader::tensorAt(std::int32_t index, const std::string &where) const
{
    if (index < 0 || std::cmp_greater_equal(index, m_tensors.size()))
        return badInput(where, "tensor " + std::to_string(index),
                        "one of the subgraph's " + std::to_string(m_tensors.size()));
    return static_cast<std::size_t>(index);
}

Result<void> GraphReader::addInputs()
{
    for (std::size_t k = 0; k < sizeOf(m_proto.inputs()); ++k) {
        const std::string where = "input " + std::to_string(k);
        HALFTONE_TRY(const std::size_t tensor,
                     tensorAt(m_proto.inputs()->Get(static_cast<flatbuffers::uoffset_t>(k)), where));
        const TensorFacts &facts = m_tensors[tensor];
        if (m_entries[tensor])
            return badInput(where, '"' + printable(m_names[tensor], kNameShown) + "\" again",
                            "another tensor");
        graph::Attributes attributes;
        if (facts.type != tensor::DType::Unknown)
            attributes.set(std::string(names::kTypeKey), std::string(tensor::nameOf(facts.type)));
        attributes.set(std::string(names::kShapeKey), names::listText(facts.signature));
        if (facts.codes)
            attributes.set(std::string(kQuantizedKey), textOf(*facts.codes));
        auto def = std::make_shared<NodeDef>(
            *names::tfliteDialect().makeVariable(m_names[tensor], std::move(attributes)));
        def->outputs.push_back(m_names[tensor]);
        m_entries[tensor] = Entry{m_model.graph.add(std::move(def), {}), 0, 0};
    }
    return {};
}

Result<Entry> GraphReader::entryOf(std::size_t tensor, const std::string &where)
{
    if (!m_entries[tensor]) {
        HALFTONE_TRY(m_entries[tensor], addStored(tensor, where));
    }
    return *m_entries[tensor];
}

/// A constant or a state.
Result<Entry> GraphReader::addStored(std::size_t tensor, const std::string &where)
{
    TensorFacts &facts = m_tensors[tensor];
    const std::string &name = m_names[tensor];
    const auto count = tensor::Shape(facts.shape).elementCount();
    if (facts.hasBytes && !facts.values) { // of a type that is not supported
        auto def = std::make_shared<NodeDef>();
        def->op = names::kConstantOp;
        def->name = name;
        def->outputs.push_back(name);
        def->attributes.set("type", facts.typeName);
        def->attributes.set(std::string(names::kTypesKey), "?");
        def->attributes.set(std::string(names::kShownOnlyKey),
                            facts.type == tensor::DType::Unknown ? "its type is not supported"
                                                                 : "its values are stored sparsely");
        m_shownOnly.emplace(names::kConstantOp, *def->attributes.find(names::kShownOnlyKey));
        return Entry{m_model.graph.add(std::move(def), {}), 0, 0};
    }
    if (!facts.values && (facts.isState || count == 0) && facts.type != tensor::DType::Unknown) {
        const auto size = count ? static_cast<std::size_t>(*count) : kMostZeroBytes + 1;
        m_zeroBytes += std::min(size, kMostZeroBytes + 1) * tensor::sizeOf(facts.type);
        if (m_zeroBytes > kMostZeroBytes)
            return badInput(where, "states of more than " + humanBytes(kMostZeroBytes), "smaller ones");
        // LiteRT fills states with bytes of 0, those of int8 with their zero point.
        const bool isCoded = facts.codes && facts.type == tensor::DType::I8;
        facts.values = tensor::Tensor::owning(
            facts.type, tensor::Shape(facts.shape),
            std::vector<std::byte>(size * tensor::sizeOf(facts.type),
                                   static_cast<std::byte>(isCoded ? facts.codes->zeros[0] : 0)));
    }
    if (!facts.values)
        return badInput(where, '"' + printable(name, kNameShown) + "\", which nothing gives",
                        "an input, a constant or a result of an operator before it");
    graph::Attributes attributes;
    if (facts.codes)
        attributes.set(std::string(kQuantizedKey), textOf(*facts.codes));
    auto def = std::make_shared<NodeDef>(*names::tfliteDialect().makeVariable(name, std::move(attributes)));
    def->outputs.push_back(name);
    tensor::Array array;
    array.name = name;
    array.shape = facts.values->shape();
    array.values = *facts.values;
    m_model.parameters.push_back(std::move(array));
    return Entry{m_model.graph.add(std::move(def), {}), 0, 0};
}

Result<std::string> GraphReader::operatorName(const schema::Operator &op, const std::string &where) const
{
    const auto *const codes = m_source.model->operator_codes();
    if (op.opcode_index() >= sizeOf(codes))
        return badInput(where, "operator code " + std::to_string(op.opcode_index()),
                        "one of " + std::to_string(sizeOf(codes)));
    const schema::OperatorCode &code = *codes->Get(op.opcode_index());
    constexpr int kCustom = 32;
    if (codeOf(code) == kCustom && code.custom_code() != nullptr && code.custom_code()->size() > 0)
        return code.custom_code()->str();
    const names::OpInfo *const known = names::operatorOfCode(codeOf(code));
    return known != nullptr ? known->name : "BUILTIN_" + std::to_string(codeOf(code));
}

void GraphReader::finishNode(NodeDef &def, std::span<const TensorFacts *const> inputs,
                             std::span<const TensorFacts *const> outputs)
{
    if (def.attributes.find(names::kShownOnlyKey) != nullptr)
        return;
    std::string reason;
    auto body = bodyOf(def, inputs, outputs, reason);
    if (reason.empty() && !body && names::findRow(def.op) == nullptr)
        reason = "its operator is not computed";
    if (reason.empty() && std::ranges::any_of(outputs, [](const TensorFacts *output) {
            return output->type == tensor::DType::Unknown;
        }))
        reason = "the type of its result is not supported";
    m_bodyNodes += body ? body->nodeCount() : 0;
    if (m_bodyNodes > kMostBodyNodes)
        reason = "the bodies of the nodes before it are too large";
    if (!reason.empty()) {
        m_shownOnly.emplace(def.op, reason);
        def.attributes.set(std::string(names::kShownOnlyKey), std::move(reason));
    } else if (body) {
        def.subgraphs.push_back(std::make_shared<const graph::Graph>(std::move(*body)));
    }
}

Result<void> GraphReader::addOperator(const schema::Operator &op, std::size_t position)
{
    std::string where = "operator " + std::to_string(position);
    NodeDef def;
    HALFTONE_TRY(def.op, operatorName(op, where));
    where += " (" + printable(def.op, kNameShown) + ')';
    HALFTONE_TRY(def.attributes, readOptions(m_source, op, where));
    std::size_t bytes = sizeof(Entry) * (sizeOf(op.inputs()) + sizeOf(op.outputs())) + def.op.size();
    for (const auto &[key, value] : def.attributes)
        bytes += key.size() + value.size();
    HALFTONE_CHECK(count(bytes, where));
    std::vector<const TensorFacts *> outputs;
    std::vector<std::size_t> results;
    for (std::size_t k = 0; k < sizeOf(op.outputs()); ++k) {
        HALFTONE_TRY(const std::size_t tensor,
                     tensorAt(op.outputs()->Get(static_cast<flatbuffers::uoffset_t>(k)), where));
        if (m_entries[tensor])
            return badInput(where, '"' + printable(m_names[tensor], kNameShown) + "\" as a result",
                            "a tensor that nothing before it gives or reads");
        outputs.push_back(&m_tensors[tensor]);
        results.push_back(tensor);
        def.outputs.push_back(m_names[tensor]);
    }
    def.name = def.outputs.empty() ? uniqueName(def.op) : def.outputs[0];
    HALFTONE_TRY(const bool isDone, addVariableOperator(def, op, where));
    if (isDone)
        return {};
    std::vector<const TensorFacts *> inputs;
    std::vector<Entry> entries;
    for (std::uint32_t k = 0; k < sizeOf(op.inputs()); ++k) {
        const std::int32_t index = op.inputs()->Get(k);
        if (index == -1) // an optional one that is left out
            continue;
        HALFTONE_TRY(const std::size_t tensor, tensorAt(index, where));
        HALFTONE_TRY(const Entry entry, entryOf(tensor, where));
        inputs.push_back(&m_tensors[tensor]);
        entries.push_back(entry);
        def.slots.push_back(k);
    }
    if (!outputs.empty())
        def.attributes.set(std::string(names::kTypesKey), typesOf(outputs));
    if (!inputs.empty())
        def.attributes.set(std::string(names::kInputTypesKey), typesOf(inputs));
    describeConstants(def, inputs);
    std::string codes;
    for (const TensorFacts *const output : outputs)
        if (output->codes)
            codes.append(codes.empty() ? "" : ", ").append(textOf(*output->codes));
    if (!codes.empty())
        def.attributes.set(std::string(kQuantizedKey), std::move(codes));
    finishNode(def, inputs, outputs);
    const graph::NodeId id = m_model.graph.add(std::make_shared<const NodeDef>(std::move(def)), entries);
    for (std::uint32_t k = 0; k < results.size(); ++k) {
        if (m_entries[results[k]])
            return badInput(where, '"' + printable(m_names[results[k]], kNameShown) + "\" twice",
                            "other results");
        m_entries[results[k]] = Entry{id, k, 0};
    }
    return {};
}

std::vector<FileFacts::Value> GraphReader::valuesOf(const Indices *indices, const std::string &kind) const
{
    std::vector<FileFacts::Value> values;
    std::set<std::string> taken;
    for (std::size_t k = 0; k < sizeOf(indices); ++k) {
        const TensorFacts &facts
            = m_tensors[static_cast<std::size_t>(indices->Get(static_cast<flatbuffers::uoffset_t>(k)))];
        FileFacts::Value value;
        const std::string wanted = facts.name.empty() ? kind + '_' + std::to_string(k) : facts.name;
        value.name = wanted;
        for (int n = 1; !taken.insert(value.name).second; ++n)
            value.name = wanted + '_' + std::to_string(n);
        value.dtype = facts.type == tensor::DType::Unknown ? lowerCase(facts.typeName)
                                                           : std::string(tensor::nameOf(facts.type));
        auto &dims = value.shape.emplace();
        for (const std::int64_t dim : facts.signature)
            dims.push_back(dim < 0 ? "?" : std::to_string(dim));
        values.push_back(std::move(value));
    }
    return values;
}

} // namespace halftone::io::tflite
