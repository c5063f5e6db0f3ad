#include "core/io/onnx/graph_reader.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/element_type.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/io/onnx/attribute_text.h"
#include "core/io/onnx/domains.h"
#include "core/io/onnx/sparse_values.h"
#include "core/io/onnx/tensor_values.h"

#include <algorithm>
#include <utility>

namespace halftone::io::onnx {
namespace {

namespace names = dialect::onnx;
using graph::Entry;
using graph::NodeDef;
using graph::NodeId;
using Attribute = ::onnx::AttributeProto;

constexpr std::size_t kShown = 80; ///< of a name in an error

std::string shown(const std::string &name)
{
    return printable(name, kShown);
}

/// Type and shape of an input as text for a variable.
graph::Attributes declared(const ::onnx::TypeProto &type)
{
    graph::Attributes attributes;
    if (!type.has_tensor_type())
        return attributes;
    const auto &tensor = type.tensor_type();
    if (names::dtypeOfCode(tensor.elem_type()))
        attributes.set(names::kTypeKey, std::string(names::nameOfCode(tensor.elem_type())));
    if (tensor.has_shape()) {
        std::vector<std::string> dims;
        for (const auto &dim : tensor.shape().dim())
            dims.push_back(dim.has_dim_value()           ? std::to_string(dim.dim_value())
                               : dim.dim_param().empty() ? "?"
                                                         : dim.dim_param());
        attributes.set(names::kShapeKey, names::listText(dims));
    }
    return attributes;
}

names::OutputFacts::Fact factOf(const ::onnx::TypeProto &type)
{
    names::OutputFacts::Fact fact;
    if (!type.has_tensor_type())
        return fact;
    fact.type = names::dtypeOfCode(type.tensor_type().elem_type()).value_or(tensor::DType::Unknown);
    if (!type.tensor_type().has_shape())
        return fact;
    std::vector<std::int64_t> dims;
    for (const auto &dim : type.tensor_type().shape().dim())
        dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value()
                                                                   : tensor::Shape::kUnknown);
    fact.shape = tensor::Shape(std::move(dims));
    return fact;
}

/// Of inputs that have an initializer: before IR 4 every initializer was listed among the inputs, and exporters of IR 4 went on so.
std::string_view kindOfDefaults(const ::onnx::ModelProto &model)
{
    constexpr std::int64_t kFirst = 4;
    if (model.ir_version() < kFirst)
        return {};
    const auto &graph = model.graph();
    std::unordered_set<std::string_view> inputs;
    for (const auto &input : graph.input())
        inputs.insert(input.name());
    const bool areAll = std::ranges::all_of(
        graph.initializer(), [&](const auto &tensor) { return inputs.contains(tensor.name()); });
    return model.ir_version() == kFirst && areAll ? names::kListedDefault : names::kOverridableDefault;
}

/// What the tensors in a value of that type hold: "float32".
std::string_view elementsOf(const ::onnx::TypeProto &type)
{
    return type.has_sequence_type() ? elementsOf(type.sequence_type().elem_type())
        : type.has_optional_type()  ? elementsOf(type.optional_type().elem_type())
        : type.has_tensor_type()    ? names::nameOfCode(type.tensor_type().elem_type())
                                    : std::string_view("TYPE_PROTO");
}

/// What a whole graph with its bodies may ask for that the format does not bound.
std::string countOf(std::size_t count, const char *what)
{
    return std::to_string(count) + ' ' + what;
}

} // namespace

::onnx::AttributeProto::AttributeType typeOf(const ::onnx::AttributeProto &attribute)
{
    if (attribute.type() != Attribute::UNDEFINED)
        return attribute.type();
    return attribute.has_f()           ? Attribute::FLOAT
        : attribute.has_i()            ? Attribute::INT
        : attribute.has_s()            ? Attribute::STRING
        : attribute.has_t()            ? Attribute::TENSOR
        : attribute.has_g()            ? Attribute::GRAPH
        : attribute.floats_size() > 0  ? Attribute::FLOATS
        : attribute.ints_size() > 0    ? Attribute::INTS
        : attribute.strings_size() > 0 ? Attribute::STRINGS
                                       : Attribute::UNDEFINED;
}

std::string GraphReader::uniqueName(const std::string &wanted)
{
    std::string name = wanted.empty() ? "unnamed" : wanted;
    for (int k = 1; !m_names.insert(name).second; ++k)
        name = (wanted.empty() ? "unnamed" : wanted) + '_' + std::to_string(k);
    return name;
}

NodeId GraphReader::add(NodeDef def, std::span<const Entry> inputs)
{
    m_defs.push_back(std::make_shared<const NodeDef>(std::move(def)));
    return m_graph.add(m_defs.back(), inputs);
}

Result<void> GraphReader::define(const std::string &value, const Entry &entry, const std::string &where)
{
    if (!m_values.try_emplace(value, entry).second)
        return badInput(where, "two values are named \"" + shown(value) + '"', "unique names");
    return {};
}

bool GraphReader::isKnownOutside(const std::string &value) const
{
    for (const GraphReader *reader = m_outer; reader != nullptr; reader = reader->m_outer)
        if (reader->m_values.contains(value))
            return true;
    return false;
}

const Entry *GraphReader::find(const std::string &value)
{
    const auto own = m_values.find(value);
    if (own != m_values.end())
        return &own->second;
    if (!isKnownOutside(value))
        return nullptr;
    NodeDef def;
    def.op = names::kVariableOp;
    def.name = uniqueName(value);
    def.variable = true;
    def.outputs.push_back(value);
    def.attributes.set(names::kCapturedKey, std::to_string(m_firstCaptured + m_captured.size()));
    m_captured.push_back(value);
    const NodeId id = add(std::move(def));
    return &m_values.try_emplace(value, Entry{id, 0, 0}).first->second;
}

Result<void> GraphReader::addInput(const ::onnx::ValueInfoProto &input)
{
    NodeDef def;
    def.op = names::kVariableOp;
    def.name = uniqueName(input.name());
    def.variable = true;
    def.outputs.push_back(input.name());
    def.attributes = declared(input.type());
    if (m_outer != nullptr)
        def.attributes.set(names::kBodyInputKey, std::to_string(m_bodyInputs++));
    auto data = std::make_shared<ValueData>();
    data->source = m_context.source;
    data->input = &input;
    const std::string where = "input " + shown(input.name());
    if (const auto held = m_initializers.find(input.name());
        held != m_initializers.end() && m_outer == nullptr) {
        data->initializer = held->second;
        if (!m_kindOfDefaults.empty())
            def.attributes.set(names::kDefaultKey, std::string(m_kindOfDefaults));
        HALFTONE_TRY(tensor::Tensor values,
                     readTensor(*m_context.source, m_context.source, *held->second,
                                "initializer " + shown(held->second->name())));
        tensor::Array array;
        array.name = def.name;
        array.shape = values.shape();
        array.values = std::move(values);
        m_context.parameters.push_back(std::move(array));
    }
    def.format = std::move(data);
    return define(input.name(), {add(std::move(def)), 0, 0}, where);
}

Result<void> GraphReader::addInitializer(const ::onnx::TensorProto &tensor)
{
    const std::string where = "initializer " + shown(tensor.name());
    auto data = std::make_shared<ValueData>();
    data->source = m_context.source;
    data->initializer = &tensor;
    NodeDef def;
    def.name = uniqueName(tensor.name());
    def.outputs.push_back(tensor.name());
    def.format = std::move(data);
    HALFTONE_TRY(tensor::Tensor values, readTensor(*m_context.source, m_context.source, tensor, where));
    if (m_outer != nullptr) { // parameters belong to the main graph: what a body holds is a constant of it
        def.op = "Constant";
        def.attributes.set("value", summaryOf(tensor));
        def.tensors.emplace_back("value", std::move(values));
        return define(tensor.name(), {add(std::move(def)), 0, 0}, where);
    }
    def.op = names::kVariableOp;
    def.variable = true;
    def.attributes.set(names::kTypeKey, std::string(names::nameOfCode(tensor.data_type())));
    const std::vector<std::int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    def.attributes.set(names::kShapeKey, names::listText(dims));
    tensor::Array array;
    array.name = def.name;
    array.shape = values.shape();
    array.values = std::move(values);
    m_context.parameters.push_back(std::move(array));
    return define(tensor.name(), {add(std::move(def)), 0, 0}, where);
}

/// One that is too large to be spread out is kept and shown; a model that computes with it is not run.
Result<void> GraphReader::addSparse(const ::onnx::SparseTensorProto &sparse)
{
    const std::string where = "sparse initializer " + shown(sparse.values().name());
    HALFTONE_TRY(SparseValues values, readSparse(*m_context.source, m_context.source, sparse, where));
    NodeDef def;
    def.name = uniqueName(sparse.values().name());
    def.outputs.push_back(sparse.values().name());
    if (m_outer != nullptr && values.dense.dtype() != tensor::DType::Unknown) { // as addInitializer()
        def.op = "Constant";
        def.attributes.set("value", summaryOf(sparse));
        def.tensors.emplace_back("value", std::move(values.dense));
        return define(sparse.values().name(), {add(std::move(def)), 0, 0}, where);
    }
    def.op = names::kVariableOp;
    def.variable = true;
    const std::vector<std::int64_t> dims(sparse.dims().begin(), sparse.dims().end());
    def.attributes
        = {{std::string(names::kTypeKey), std::string(names::nameOfCode(sparse.values().data_type()))},
           {std::string(names::kShapeKey), names::listText(dims)}};
    auto data = std::make_shared<ValueData>();
    data->source = m_context.source;
    data->sparse = &sparse;
    data->places = std::move(values.places);
    def.format = std::move(data);
    tensor::Array array;
    array.name = def.name;
    if (values.dense.dtype() != tensor::DType::Unknown) {
        array.shape = values.dense.shape();
        array.values = std::move(values.dense);
    }
    m_context.parameters.push_back(std::move(array));
    return define(sparse.values().name(), {add(std::move(def)), 0, 0}, where);
}

Result<void> GraphReader::addVariables()
{
    for (const auto &tensor : m_proto.initializer())
        if (!m_initializers.try_emplace(tensor.name(), &tensor).second)
            return badInput("initializer " + shown(tensor.name()), "a second one of this name",
                            "each name once");
    if (m_outer == nullptr)
        m_kindOfDefaults = kindOfDefaults(m_context.source->model);
    for (const auto &input : m_proto.input())
        HALFTONE_CHECK(addInput(input));
    for (const auto &tensor : m_proto.initializer())
        if (!m_values.contains(tensor.name()))
            HALFTONE_CHECK(addInitializer(tensor));
    for (const auto &sparse : m_proto.sparse_initializer())
        HALFTONE_CHECK(addSparse(sparse));
    return {};
}

Result<void> GraphReader::checkNode(const ::onnx::NodeProto &node, const std::string &where) const
{
    if (node.op_type().empty())
        return badInput(where, "the node has no operator", "an operator name");
    const std::string domain = domainOf(node.domain());
    if (!m_context.domains.contains(domain))
        return badInput(where, "the domain \"" + shown(domain) + "\" is not imported",
                        "a domain of opset_import");
    const auto *const info = static_cast<const names::OpInfo *>(
        m_context.dialect->findOp(names::qualifiedName(node.domain(), node.op_type())));
    if (info == nullptr)
        return {};
    const auto inputs = static_cast<std::size_t>(node.input_size());
    const auto outputs = static_cast<std::size_t>(node.output_size());
    if (inputs < info->leastInputs() || inputs > info->mostInputs())
        return badInput(where, node.op_type() + " with " + countOf(inputs, "inputs"),
                        inputs < info->leastInputs() ? "at least " + std::to_string(info->leastInputs())
                                                     : "at most " + std::to_string(info->mostInputs()));
    if (outputs > info->mostOutputs())
        return badInput(where, node.op_type() + " with " + countOf(outputs, "outputs"),
                        "at most " + std::to_string(info->mostOutputs()));
    for (const dialect::AttributeSpec &spec : info->attributes)
        if (spec.required && std::ranges::none_of(node.attribute(), [&](const Attribute &written) {
                return written.name() == spec.name;
            }))
            return badInput(where, "missing attribute " + spec.name,
                            "a value, required by " + node.op_type());
    return {};
}

Result<void> GraphReader::readAttribute(const Attribute &attribute, NodeDef &def, const std::string &where)
{
    const std::string place = where + " attribute " + shown(attribute.name());
    std::string text;
    if (const std::string &given = attribute.ref_attr_name();
        !given.empty()) { // of a function: what its call gives
        def.attributes.set(attribute.name(), given);
        return {};
    }
    switch (typeOf(attribute)) {
    case Attribute::FLOAT:
        text = names::realText(attribute.f());
        break;
    case Attribute::INT:
        text = std::to_string(attribute.i());
        break;
    case Attribute::STRING:
        text = attribute.s();
        break;
    case Attribute::FLOATS:
        text = names::listText(
            std::span(attribute.floats().data(), static_cast<std::size_t>(attribute.floats_size())));
        break;
    case Attribute::INTS:
        text = names::listText(std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end()));
        break;
    case Attribute::STRINGS:
        text = names::listText(
            std::vector<std::string>(attribute.strings().begin(), attribute.strings().end()));
        break;
    case Attribute::TENSOR: {
        HALFTONE_TRY(tensor::Tensor values,
                     readTensor(*m_context.source, m_context.source, attribute.t(), place));
        text = summaryOf(attribute.t());
        if (values.dtype() != tensor::DType::Unknown)
            def.tensors.emplace_back(attribute.name(), std::move(values));
        break;
    }
    case Attribute::GRAPH: {
        GraphReader body(m_context, attribute.g(), this, m_inputs.size());
        auto graph = body.read();
        if (!graph.ok()) {
            Error error = std::move(graph).error();
            error.where = place + ", " + error.where;
            return error;
        }
        m_bodies[attribute.name()] = std::make_shared<const graph::Graph>(std::move(graph).value());
        for (const std::string &value : body.captured())
            m_inputs.push_back(*find(value));
        text = attribute.g().name();
        break;
    }
    case Attribute::SPARSE_TENSOR: {
        HALFTONE_TRY(SparseValues values,
                     readSparse(*m_context.source, m_context.source, attribute.sparse_tensor(), place));
        text = summaryOf(attribute.sparse_tensor());
        if (values.dense.dtype() != tensor::DType::Unknown)
            def.tensors.emplace_back(attribute.name(), std::move(values.dense));
        break;
    }
    case Attribute::TYPE_PROTO:
        text = elementsOf(attribute.tp());
        break;
    default:
        text = Attribute::AttributeType_Name(attribute.type());
        break;
    }
    def.attributes.set(attribute.name(), std::move(text));
    return {};
}

Result<void> GraphReader::readAttributes(const ::onnx::NodeProto &node, NodeDef &def,
                                         const std::string &where)
{
    const dialect::OpInfo *const info = m_context.dialect->findOp(def.op);
    std::vector<std::string> unknown;
    for (const Attribute &attribute : node.attribute()) {
        if (def.attributes.find(attribute.name()) != nullptr)
            return badInput(where, "the attribute " + shown(attribute.name()) + " is given twice",
                            "unique names");
        const dialect::AttributeSpec *const spec = info ? info->attribute(attribute.name()) : nullptr;
        const auto needed = spec ? neededType(spec->type) : Attribute::UNDEFINED;
        const auto given = typeOf(attribute);
        if (needed != Attribute::UNDEFINED && given != needed && attribute.ref_attr_name().empty()
            && given != Attribute::UNDEFINED)
            return badInput(where + " attribute " + shown(attribute.name()),
                            Attribute::AttributeType_Name(given), Attribute::AttributeType_Name(needed));
        HALFTONE_CHECK(readAttribute(attribute, def, where));
        if (info != nullptr && spec == nullptr)
            unknown.push_back(attribute.name());
    }
    if (!unknown.empty())
        def.attributes.set(names::kUnknownKey, names::listText(unknown));
    return {};
}

Result<void> GraphReader::readInputs(const ::onnx::NodeProto &node, NodeDef &def, const std::string &where)
{
    m_inputs.clear();
    for (int k = 0; k < node.input_size(); ++k) {
        if (node.input(k).empty())
            continue;
        const Entry *const entry = find(node.input(k));
        if (entry == nullptr)
            return badInput(where,
                            "the input \"" + shown(node.input(k)) + "\" is not produced by any earlier node",
                            "a graph input, an initializer or an output of an earlier node");
        m_inputs.push_back(*entry);
        def.slots.push_back(static_cast<std::uint32_t>(k));
    }
    return {};
}

Result<void> GraphReader::addNode(const ::onnx::NodeProto &node, std::size_t index)
{
    const std::string where = "node " + (node.name().empty() ? std::to_string(index) : shown(node.name()));
    HALFTONE_CHECK(checkNode(node, where));
    NodeDef def;
    def.op = names::qualifiedName(node.domain(), node.op_type());
    def.outputs.assign(node.output().begin(), node.output().end());
    HALFTONE_CHECK(readInputs(node, def, where));
    std::vector<Entry> inputs = std::exchange(m_inputs, {}); // from here on what bodies capture
    m_bodies.clear();
    HALFTONE_CHECK(readAttributes(node, def, where));
    for (auto &[key, body] : m_bodies) // then_branch before else_branch, wherever the file has them
        def.subgraphs.push_back(std::move(body));
    HALFTONE_CHECK(readCall(node, def, where));
    for (std::size_t k = 0; k < m_inputs.size(); ++k)
        def.slots.push_back(names::kFirstCapturedSlot + static_cast<std::uint32_t>(k));
    inputs.insert(inputs.end(), m_inputs.begin(), m_inputs.end());

    std::string wanted = node.name();
    if (wanted.empty())
        wanted = node.output_size() > 0 && !node.output(0).empty() ? node.output(0) : node.op_type();
    def.name = uniqueName(wanted);
    auto data = std::make_shared<NodeData>();
    data->source = m_context.source;
    data->proto = &node;
    data->name = def.name;
    def.format = std::move(data);
    const NodeId id = add(std::move(def), inputs);
    const std::vector<std::string> &outputs = m_defs.back()->outputs;
    for (std::size_t k = 0; k < outputs.size(); ++k)
        if (!outputs[k].empty())
            HALFTONE_CHECK(define(outputs[k], {id, static_cast<std::uint32_t>(k), 0}, where));
    return {};
}

Result<void> GraphReader::addHeads()
{
    std::vector<Entry> heads;
    for (const auto &output : m_proto.output()) {
        const Entry *const entry = find(output.name());
        if (entry == nullptr)
            return badInput("output " + shown(output.name()), "not produced by any node",
                            "the output of a node");
        heads.push_back(*entry);
    }
    m_graph.setHeads(std::move(heads));
    return {};
}

/// What is captured stands in the order in which the graph around gives it, whoever in the body reads it first: so the node reads it in the
/// same order when casts in the body have moved.
void GraphReader::orderCaptured()
{
    if (m_outer == nullptr || m_captured.size() < 2)
        return;
    std::vector<std::pair<Entry, std::size_t>> order;
    for (std::size_t k = 0; k < m_captured.size(); ++k)
        order.emplace_back(*m_outer->find(m_captured[k]), k);
    const auto place = [](const auto &one) { return std::pair(one.first.node, one.first.output); };
    std::ranges::stable_sort(order, {}, place);
    std::vector<std::string> captured(m_captured.size());
    std::vector<std::size_t> number(m_captured.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        captured[k] = m_captured[order[k].second];
        number[order[k].second] = k;
    }
    m_captured = std::move(captured);
    for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        const std::string *const text = m_defs[id]->attributes.find(names::kCapturedKey);
        const auto old = text && m_graph.isVariable(id) ? parseInteger(*text) : std::nullopt;
        if (!old)
            continue;
        NodeDef def = *m_defs[id];
        const std::size_t now = number[static_cast<std::size_t>(*old) - m_firstCaptured];
        def.attributes.set(names::kCapturedKey, std::to_string(m_firstCaptured + now));
        m_defs[id] = std::make_shared<const NodeDef>(std::move(def));
        m_graph.redefine(id, m_defs[id]);
    }
}

Result<graph::Graph> GraphReader::read()
{
    m_graph = graph::Graph(*m_context.dialect);
    const auto nodes = static_cast<std::size_t>(m_proto.node_size());
    const auto variables = static_cast<std::size_t>(m_proto.initializer_size() + m_proto.input_size());
    m_graph.reserve(nodes + variables, nodes * 2);
    m_values.reserve(nodes + variables);
    m_names.reserve(nodes + variables);
    m_defs.reserve(nodes + variables);
    HALFTONE_CHECK(addVariables());
    for (int k = 0; k < m_proto.node_size(); ++k) {
        if (m_context.stop.stop_requested())
            return cancelled();
        HALFTONE_CHECK(addNode(m_proto.node(k), static_cast<std::size_t>(k)));
    }
    HALFTONE_CHECK(addHeads());
    orderCaptured();
    auto data = std::make_shared<GraphData>();
    for (const auto &output : m_proto.output())
        data->heads.push_back(factOf(output.type()));
    data->source = m_context.source;
    data->proto = &m_proto;
    data->nodes = std::move(m_defs);
    m_graph.setFormat(std::move(data));
    return std::move(m_graph);
}

} // namespace halftone::io::onnx
