#include "core/io/onnx/graph_writer.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/element_type.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/output_facts.h"
#include "core/dialect/onnx/raise_opset.h"
#include "core/graph/traverse.h"
#include "core/io/onnx/attribute_text.h"
#include "core/io/onnx/domains.h"
#include "core/io/onnx/graph_reader.h"
#include "core/io/onnx/raised_node.h"
#include "core/io/onnx/respelled_node.h"
#include "core/io/onnx/sparse_values.h"
#include "core/io/onnx/tensor_values.h"

#include <algorithm>
#include <map>
#include <set>

namespace halftone::io::onnx {
namespace {

namespace names = dialect::onnx;
using graph::Entry;
using graph::NodeDef;
using graph::NodeId;
using Attribute = ::onnx::AttributeProto;

/// Its function in ONNX, through which checkers infer shapes, fails where this attribute is not written.
constexpr std::string_view kSaysAxes = "MeanVarianceNormalization";

const ValueData *valueData(const NodeDef &def)
{
    return dynamic_cast<const ValueData *>(def.format.get());
}

const NodeData *nodeData(const NodeDef &def)
{
    return dynamic_cast<const NodeData *>(def.format.get());
}

/// The number that a variable for a captured value bears.
std::optional<std::size_t> capturedNumber(const NodeDef &def)
{
    const std::string *const text = def.attributes.find(names::kCapturedKey);
    const auto number = text && def.isVariable() ? parseInteger(*text) : std::nullopt;
    return number && *number >= 0 ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
}

/// Of another type than tensors of numbers, such as texts or a list: what we know of it says less.
bool isBeyondUs(const ::onnx::ValueInfoProto &value)
{
    const ::onnx::TypeProto &type = value.type();
    if (!type.has_tensor_type())
        return type.value_case() != ::onnx::TypeProto::VALUE_NOT_SET;
    const std::int32_t code = type.tensor_type().elem_type();
    return code != 0 && names::dtypeOfCode(code).value_or(tensor::DType::Unknown) == tensor::DType::Unknown;
}

void writeType(tensor::DType type, ::onnx::ValueInfoProto &value)
{
    if (type != tensor::DType::Unknown && !isBeyondUs(value))
        value.mutable_type()->mutable_tensor_type()->set_elem_type(
            static_cast<std::int32_t>(names::codeOf(type)));
}

/// What a variable says of its shape: numbers, and names of axes that are open.
void writeShape(const NodeDef &def, ::onnx::ValueInfoProto &value)
{
    const std::string *const text = def.attributes.find(names::kShapeKey);
    const auto parts = text ? names::textsIn(*text) : std::nullopt;
    if (!parts)
        return;
    auto &shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const std::string &part : *parts) {
        auto &dim = *shape.add_dim();
        if (const auto extent = parseInteger(part))
            dim.set_dim_value(*extent);
        else
            dim.set_dim_param(part);
    }
}

template <class Messages>
void sortAsIn(const Messages &source, Messages &messages)
{
    std::unordered_map<std::string_view, int> places;
    for (int k = 0; k < source.size(); ++k)
        places.emplace(source.Get(k).name(), k);
    const auto placeOf = [&places, &source](const auto &message) {
        const auto found = places.find(message.name());
        return found == places.end() ? source.size() : found->second;
    };
    std::stable_sort(messages.pointer_begin(), messages.pointer_end(),
                     [&](const auto *a, const auto *b) { return placeOf(*a) < placeOf(*b); });
}

/// What nodes have that no file says.
bool isOurs(std::string_view key)
{
    return key == names::kFlattenedKey || key == names::kCallKey || key == names::kOwnCallKey
        || key == names::kStandsKey || key == names::kGroupScalesKey || key == names::kBatchedKey
        || key == names::kUnknownKey;
}

} // namespace

tensor::DType GraphWriter::valueType(const graph::Entry &entry) const
{
    return entry.node < m_types.size() && entry.output < m_types[entry.node].size()
        ? m_types[entry.node][entry.output]
        : tensor::DType::Unknown;
}

/// Is the graph of a newer opset than the file?
bool GraphWriter::isRaised(const Source &source) const
{
    const std::int64_t opset = importedOpset(source.model.opset_import());
    return names::opsetOf(dialect::of(m_graph)) > opset && opset > 0;
}

bool GraphWriter::isAsRead() const
{
    const auto *const data = dynamic_cast<const GraphData *>(m_graph.format().get());
    if (data == nullptr || data->nodes.size() != m_graph.nodeCount())
        return false;
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
        if (m_graph.sharedNode(id) != data->nodes[id])
            return false;
    return true;
}

/// Inputs of the main graph that nothing reads any more: whoever runs the model feeds them all the same. Those that
/// have an initializer go with it.
void GraphWriter::findUnread(const ::onnx::GraphProto &source)
{
    std::unordered_set<const ::onnx::ValueInfoProto *> read;
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
        if (const ValueData *const data = valueData(m_graph.node(id)))
            read.insert(data->input);
    std::unordered_set<std::string_view> held;
    for (const auto &tensor : source.initializer())
        held.insert(tensor.name());
    for (const auto &input : source.input())
        if (!read.contains(&input) && !held.contains(input.name()))
            m_unread.push_back(&input);
}

bool GraphWriter::isNameTaken(const std::string &name) const
{
    return m_taken.contains(name) || (m_outer != nullptr && m_outer->isNameTaken(name));
}

void GraphWriter::nameValues(const std::vector<std::string> &outer)
{
    const auto referenced = graph::referencedOutputs(m_graph);
    const dialect::Dialect &dialect = dialect::of(m_graph);
    const auto isLeftOut = [this](const Entry &entry) {
        const auto &outputs = m_graph.node(entry.node).outputs;
        return entry.output < outputs.size() && outputs[entry.output].empty();
    };
    std::set<std::pair<NodeId, std::uint32_t>> leftOutAndRead; // now that there are other readers
    const auto note = [&](std::span<const Entry> read) {
        for (const Entry &entry : read)
            if (isLeftOut(entry))
                leftOutAndRead.insert({entry.node, entry.output});
    };
    note(m_graph.heads());
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
        note(m_graph.inputs(id));
    for (const ::onnx::ValueInfoProto *const input : m_unread)
        m_taken.insert(input->name());
    m_taken.reserve(m_graph.nodeCount());
    m_values.resize(m_graph.nodeCount());
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        const NodeDef &def = m_graph.node(id);
        const std::size_t count = std::max<std::size_t>(referenced[id], def.outputs.size());
        for (std::uint32_t k = 0; k < count; ++k) {
            if (const auto number = capturedNumber(def); number && *number < outer.size()) {
                m_values[id].push_back(outer[*number]);
                continue;
            }
            if (isLeftOut({id, k, 0}) && !leftOutAndRead.contains({id, k})) {
                m_values[id].emplace_back();
                continue;
            }
            const std::string wanted = dialect.entryName(m_graph, {id, k, 0});
            // A value that no file named bears no name of a graph around it.
            const bool isNew = def.format == nullptr && m_outer != nullptr;
            std::string name = wanted;
            for (int n = 1; (isNew && m_outer->isNameTaken(name)) || !m_taken.insert(name).second; ++n)
                name = wanted + '_' + std::to_string(n);
            m_values[id].push_back(std::move(name));
        }
    }
}

/// The outputs keep the names that the source gave them, whatever computes them now.
void GraphWriter::nameHeads(const ::onnx::GraphProto *source)
{
    const auto heads = m_graph.heads();
    for (std::size_t k = 0;
         source != nullptr && k < heads.size() && static_cast<int>(k) < source->output_size(); ++k) {
        const std::string &wanted = source->output(static_cast<int>(k)).name();
        std::string &own = m_values[heads[k].node][heads[k].output];
        if (own == wanted || m_graph.isVariable(heads[k].node))
            continue;
        for (auto &values : m_values)
            for (std::string &value : values)
                if (value == wanted)
                    value = own;
        own = wanted;
    }
}

void GraphWriter::fixShape(const std::string &variable, ::onnx::ValueInfoProto &input) const
{
    const auto known = m_shapes->find(variable);
    if (known == m_shapes->end() || !known->second.isComplete() || isBeyondUs(input))
        return;
    auto &shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.clear_dim();
    for (const std::int64_t extent : known->second.dims())
        shape.add_dim()->set_dim_value(extent);
}

void GraphWriter::writeVariable(NodeId id, ::onnx::GraphProto &proto) const
{
    const NodeDef &def = m_graph.node(id);
    if (capturedNumber(def))
        return;
    const ValueData *const data = valueData(def);
    const tensor::Array *array = nullptr;
    if (m_parameters != nullptr)
        if (const auto found = m_parameters->find(def.name); found != m_parameters->end())
            array = found->second;
    const std::string *const type = def.attributes.find(names::kTypeKey);
    if (data != nullptr && data->sparse != nullptr) {
        ::onnx::SparseTensorProto &sparse = *proto.add_sparse_initializer();
        sparse.CopyFrom(*data->sparse);
        copyWithValues(*data->source, data->sparse->values(), *sparse.mutable_values());
        copyWithValues(*data->source, data->sparse->indices(), *sparse.mutable_indices());
        const bool isSpread = array != nullptr && array->values.dtype() != tensor::DType::Unknown;
        if (!isSpread)
            giveType(type ? tensor::dtypeNamed(*type) : std::nullopt, *sparse.mutable_values());
        if (!isSpread || writeSparse(array->values, data->places, sparse))
            return;
        proto.mutable_sparse_initializer()->RemoveLast(); // it has become dense
    }
    const bool isInput = data == nullptr ? array == nullptr : data->input != nullptr;
    if (isInput) {
        ::onnx::ValueInfoProto &input = *proto.add_input();
        if (data != nullptr)
            input.CopyFrom(*data->input);
        else
            writeShape(def, input);
        input.set_name(m_values[id][0]);
        const auto declared = type ? tensor::dtypeNamed(*type) : std::nullopt;
        const tensor::DType held = array ? array->values.dtype() : declared.value_or(tensor::DType::Unknown);
        writeType(held, input);
        if (m_shapes != nullptr)
            fixShape(def.name, input);
    }
    if (array != nullptr) {
        ::onnx::TensorProto &tensor = *proto.add_initializer();
        writeTensor(data ? data->source.get() : nullptr, data ? data->initializer : nullptr, array->values,
                    tensor, m_apart);
        tensor.set_name(m_values[id][0]);
    }
}

void GraphWriter::writeVariables(const ::onnx::GraphProto *source, ::onnx::GraphProto &proto) const
{
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
        if (m_graph.isVariable(id))
            writeVariable(id, proto);
    if (source == nullptr)
        return;
    if (m_parameters == nullptr)
        return placeBodyInputs(*source, proto);
    if (m_shapes == nullptr) // a runtime is fed what nodes read
        for (const ::onnx::ValueInfoProto *const input : m_unread)
            proto.add_input()->CopyFrom(*input);
    // The graph may have them in the order in which they are read; those of the source stand as it had them.
    sortAsIn(source->input(), *proto.mutable_input());
    sortAsIn(source->initializer(), *proto.mutable_initializer());
}

/// What a body is given goes by position: each input stands where it stood, also one that is no longer read.
void GraphWriter::placeBodyInputs(const ::onnx::GraphProto &source, ::onnx::GraphProto &proto) const
{
    std::map<std::int64_t, ::onnx::ValueInfoProto> placed;
    int written = 0;
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        const NodeDef &def = m_graph.node(id);
        const ValueData *const data = m_graph.isVariable(id) ? valueData(def) : nullptr;
        if (data == nullptr || data->input == nullptr || capturedNumber(def))
            continue;
        const std::string *const place = def.attributes.find(names::kBodyInputKey);
        placed[place ? parseInteger(*place).value_or(written) : written] = proto.input(written);
        ++written;
    }
    proto.clear_input();
    for (int k = 0; k < source.input_size(); ++k) {
        const auto found = placed.find(k);
        ::onnx::ValueInfoProto &input = *proto.add_input();
        input.CopyFrom(found == placed.end() ? source.input(k) : found->second);
        const auto at = static_cast<std::size_t>(k);
        if (found == placed.end() && at < m_handedIn.size() && tensor::isFloat(m_handedIn[at]))
            writeType(m_handedIn[at], input);
    }
}

/// By input of a body: what a Loop or Scan hands in. A Loop sets the first two itself, and before opset 9 lengths stand before what a Scan
/// hands in.
std::vector<tensor::DType> GraphWriter::handedIn(NodeId id) const
{
    const NodeDef &def = m_graph.node(id);
    std::vector<tensor::DType> types;
    if (def.op != "Loop" && def.op != "Scan")
        return types;
    const bool hasLengths = def.op == "Scan"
        && (names::opsetOf(dialect::of(m_graph)) < 9 || def.attributes.find(names::kBatchedKey) != nullptr);
    const std::size_t first = hasLengths ? 1 : 0;
    const auto inputs = m_graph.inputs(id);
    for (std::size_t k = 0; k < inputs.size() && def.slotOf(k) < names::kFirstCapturedSlot; ++k) {
        const std::size_t slot = def.slotOf(k);
        if (slot < first || (def.op == "Loop" && slot < 2))
            continue;
        types.resize(std::max(types.size(), slot - first + 1), tensor::DType::Unknown);
        types[slot - first] = valueType(inputs[k]);
    }
    return types;
}

Result<void> GraphWriter::writeBody(NodeId id, std::size_t body, Attribute &attribute) const
{
    std::vector<std::string> outer;
    std::vector<tensor::DType> types;
    const NodeDef &def = m_graph.node(id);
    const auto inputs = m_graph.inputs(id);
    for (std::size_t k = 0; k < inputs.size(); ++k)
        if (def.slotOf(k) >= names::kFirstCapturedSlot) {
            outer.push_back(nameOf(inputs[k]));
            types.push_back(valueType(inputs[k]));
        }
    attribute.clear_g();
    GraphWriter writer(*def.subgraphs[body], nullptr);
    writer.m_outer = this;
    writer.m_captured = std::move(types);
    writer.m_handedIn = handedIn(id);
    return writer.write(*attribute.mutable_g(), outer);
}

Result<void> GraphWriter::writeAttributes(NodeId id, const ::onnx::NodeProto *source,
                                          ::onnx::NodeProto &node) const
{
    const NodeDef &def = m_graph.node(id);
    const dialect::OpInfo *const info = dialect::of(m_graph).findOp(def.op);
    std::unordered_set<std::string> written;
    for (int k = 0; source != nullptr && k < source->attribute_size(); ++k) {
        const Attribute &from = source->attribute(k);
        const std::string *const text = def.attributes.find(from.name());
        if (text == nullptr)
            continue;
        written.insert(from.name());
        Attribute &to = *node.add_attribute();
        to.CopyFrom(from);
        if (!from.ref_attr_name().empty())
            continue; // of a function: what its call gives
        if (typeOf(from) == Attribute::GRAPH) {
            const auto body = static_cast<std::size_t>(
                std::ranges::count_if(source->attribute(), [&from](const Attribute &other) {
                    return typeOf(other) == Attribute::GRAPH && other.ref_attr_name().empty()
                        && other.name() > from.name(); // as the reader has them
                }));
            HALFTONE_CHECK(writeBody(id, body, to));
        } else if (typeOf(from) == Attribute::SPARSE_TENSOR) {
            continue; // other values come as another attribute
        } else if (const tensor::Tensor *const held = def.tensorOf(from.name())) {
            if (nodeData(def) == nullptr || !holds(*nodeData(def)->source, from.t(), *held)
                || !from.t().has_raw_data())
                writeTensor(nodeData(def) ? nodeData(def)->source.get() : nullptr, &from.t(), *held,
                            *to.mutable_t());
        } else if (typeOf(from) == Attribute::TENSOR
                   && nodeData(def) != nullptr) { // of a type that is only passed on
            copyWithValues(*nodeData(def)->source, from.t(), *to.mutable_t());
        } else if (const auto old = textOf(from); old && *old != *text) {
            HALFTONE_CHECK(writeText(def, from.name(), *text, to));
        }
    }
    for (const auto &[key, text] : def.attributes) {
        if (written.contains(key) || isOurs(key))
            continue;
        Attribute &to = *node.add_attribute();
        to.set_name(key);
        if (const tensor::Tensor *const held = def.tensorOf(key)) {
            to.set_type(Attribute::TENSOR);
            writeValues(*held, *to.mutable_t());
            continue;
        }
        const auto moved
            = std::ranges::find_if(names::movedAttributes(), [&def, &name = key](const auto &row) {
                  return row.op == def.op && row.input == name;
              });
        const bool isInput
            = moved != names::movedAttributes().end() && (info == nullptr || info->attribute(key) == nullptr);
        const bool isCount
            = info == nullptr && parseInteger(text); // of an operator that we know only how to write
        to.set_type(isInput       ? neededType(moved->type)
                        : isCount ? Attribute::INT
                                  : typeFor(info ? info->attribute(key) : nullptr));
        HALFTONE_CHECK(writeText(def, key, text, to));
    }
    if (m_isChanged && def.op == kSaysAxes && info != nullptr && def.attributes.find("axes") == nullptr) {
        Attribute &axes = *node.add_attribute();
        axes.set_name("axes");
        axes.set_type(typeFor(info->attribute("axes")));
        HALFTONE_CHECK(writeText(def, "axes", info->attribute("axes")->defaultValue, axes));
    }
    return {};
}

Result<void> GraphWriter::writeNode(NodeId id, ::onnx::GraphProto &proto) const
{
    const NodeDef &def = m_graph.node(id);
    if (const ValueData *const held = valueData(def); held != nullptr && held->initializer != nullptr) {
        const tensor::Tensor *const values = def.tensorOf("value");
        ::onnx::TensorProto &tensor = *proto.add_initializer();
        writeTensor(held->source.get(), held->initializer, values ? *values : tensor::Tensor(), tensor);
        tensor.set_name(m_values[id][0]);
        return {};
    }
    const NodeData *const data = nodeData(def);
    const ::onnx::NodeProto *const source = data ? data->proto : nullptr;
    ::onnx::NodeProto &node = *proto.add_node();
    if (source != nullptr) {
        node.CopyFrom(*source);
        node.clear_input();
        node.clear_output();
        node.clear_attribute();
        if (m_shapes != nullptr || def.name != data->name)
            node.set_name(def.name);
        if (def.op != names::qualifiedName(source->domain(), source->op_type()))
            node.set_op_type(def.op); // another operator of ai.onnx in a newer opset
    } else {
        const std::size_t dot = def.op.rfind('.');
        if (dot != std::string::npos)
            node.set_domain(def.op.substr(0, dot));
        node.set_op_type(dot == std::string::npos ? def.op : def.op.substr(dot + 1));
        node.set_name(def.name);
    }
    const auto inputs = m_graph.inputs(id);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (def.slotOf(k) >= names::kFirstCapturedSlot)
            break;
        while (node.input_size() < static_cast<int>(def.slotOf(k)))
            node.add_input("");
        node.add_input(nameOf(inputs[k]));
    }
    while (source != nullptr && node.input_size() < source->input_size()
           && source->input(node.input_size()).empty())
        node.add_input("");
    for (const std::string &name : m_values[id])
        node.add_output(name);
    HALFTONE_CHECK(writeAttributes(id, source, node));
    if (def.attributes.find(names::kBatchedKey) != nullptr)
        batchAround(node);
    if (data != nullptr && isRaised(*data->source))
        raiseNode(dialect::of(m_graph), inputs.empty() ? tensor::DType::Unknown : valueType(inputs[0]), node,
                  proto);
    if (def.attributes.find(names::kFlattenedKey) != nullptr)
        flattenAround(dialect::of(m_graph), proto);
    if (def.attributes.find(names::kGroupScalesKey) != nullptr)
        spreadScales(dialect::of(m_graph), proto);
    return {};
}

void GraphWriter::writeOutputs(::onnx::GraphProto &proto) const
{
    const auto heads = m_graph.heads();
    const bool isOfFile = dynamic_cast<const GraphData *>(m_graph.format().get()) != nullptr;
    const auto *const facts
        = isOfFile ? nullptr : dynamic_cast<const names::OutputFacts *>(m_graph.format().get());
    for (std::size_t k = 0; k < heads.size(); ++k) {
        if (static_cast<int>(k) >= proto.output_size())
            proto.add_output();
        ::onnx::ValueInfoProto &output = *proto.mutable_output(static_cast<int>(k));
        output.set_name(nameOf(heads[k]));
        if (facts == nullptr || k >= facts->heads.size())
            continue;
        writeType(facts->heads[k].type, output);
        auto &shape = *output.mutable_type()->mutable_tensor_type()->mutable_shape();
        for (const std::int64_t extent : facts->heads[k].shape.dims()) {
            auto &dim = *shape.add_dim();
            if (extent >= 0)
                dim.set_dim_value(extent);
        }
    }
}

/// Conversion may change which float an output comes in, and a file that says another is refused.
void GraphWriter::correctOutputTypes(::onnx::GraphProto &proto) const
{
    const auto count = std::min(static_cast<std::size_t>(proto.output_size()), m_outputTypes.size());
    for (std::size_t k = 0; k < count; ++k) {
        auto &type = *proto.mutable_output(static_cast<int>(k))->mutable_type();
        const auto said
            = type.has_tensor_type() ? names::dtypeOfCode(type.tensor_type().elem_type()) : std::nullopt;
        if (said && tensor::isFloat(*said) && tensor::isFloat(m_outputTypes[k]))
            type.mutable_tensor_type()->set_elem_type(static_cast<int>(names::codeOf(m_outputTypes[k])));
    }
}

/// Of a graph that was changed only what cannot have: types that are no floats'.
void GraphWriter::writeValueInfo(const ::onnx::GraphProto &source, ::onnx::GraphProto &proto) const
{
    proto.clear_value_info();
    if (source.value_info().empty())
        return;
    std::unordered_set<std::string_view> known;
    for (const auto &values : m_values)
        known.insert(values.begin(), values.end());
    for (const auto &info : source.value_info()) {
        const auto type = names::dtypeOfCode(info.type().tensor_type().elem_type());
        const bool isFloat = !info.type().has_tensor_type() || (type && tensor::isFloat(*type));
        if (!isFloat && known.contains(info.name()))
            proto.add_value_info()->CopyFrom(info);
    }
}

/// For nodes that are written anew in a newer opset, and for what bodies are handed in and give.
void GraphWriter::findTypes()
{
    const bool isBody = m_parameters == nullptr;
    const auto hasBody = [this](NodeId id) { return !m_graph.node(id).subgraphs.empty(); };
    const auto *const data = dynamic_cast<const GraphData *>(m_graph.format().get());
    NodeId id = 0;
    while (id < m_graph.nodeCount() && !hasBody(id))
        ++id;
    if (!isBody && id == m_graph.nodeCount() && !isRaised(*data->source))
        return;
    m_types = names::valueTypes(m_graph, m_captured, [this](const NodeDef &variable) {
        if (m_parameters != nullptr) {
            const auto held = m_parameters->find(variable.name);
            return held == m_parameters->end() ? tensor::DType::Unknown : held->second->values.dtype();
        }
        const std::string *const place = variable.attributes.find(names::kBodyInputKey);
        const auto number = place ? parseInteger(*place).value_or(-1) : -1;
        return number >= 0 && number < std::ssize(m_handedIn) ? m_handedIn[static_cast<std::size_t>(number)]
                                                              : tensor::DType::Unknown;
    });
    if (!isBody)
        return;
    for (const graph::Entry &head : m_graph.heads())
        m_headTypes.push_back(valueType(head));
    m_outputTypes = m_headTypes;
}

Result<void> GraphWriter::write(::onnx::GraphProto &proto, const std::vector<std::string> &outer)
{
    const auto *const data = dynamic_cast<const GraphData *>(m_graph.format().get());
    const ::onnx::GraphProto *const source = data ? data->proto : nullptr;
    if (source != nullptr) {
        proto.set_name(source->name());
        if (source->has_doc_string())
            proto.set_doc_string(source->doc_string());
        proto.mutable_output()->CopyFrom(source->output());
        proto.mutable_value_info()->CopyFrom(source->value_info());
        proto.mutable_quantization_annotation()->CopyFrom(source->quantization_annotation());
        proto.mutable_metadata_props()->CopyFrom(source->metadata_props());
        proto.mutable_unknown_fields()->append(source->unknown_fields());
    } else {
        proto.set_name("graph");
    }
    // A body that was left as it was may read values of other types.
    m_isChanged = !isAsRead() || (m_outer != nullptr && m_outer->m_isChanged);
    if (data != nullptr && (isRaised(*data->source) || m_isChanged))
        findTypes();
    if (source != nullptr && m_parameters != nullptr)
        findUnread(*source);
    nameValues(outer);
    nameHeads(source);
    writeVariables(source, proto);
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id)
        if (!m_graph.isVariable(id))
            HALFTONE_CHECK(writeNode(id, proto));
    writeOutputs(proto);
    if (source != nullptr && (m_isChanged || m_shapes != nullptr)) {
        correctOutputTypes(proto);
        writeValueInfo(*source, proto);
    }
    if (m_shapes != nullptr) { // what a file says of shapes may be of others
        proto.clear_value_info();
        for (auto &output : *proto.mutable_output())
            if (output.type().has_tensor_type())
                output.mutable_type()->mutable_tensor_type()->clear_shape();
    }
    return {};
}

} // namespace halftone::io::onnx
