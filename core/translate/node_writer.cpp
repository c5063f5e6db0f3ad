#include "core/translate/node_writer.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/element_type.h"
#include "core/tensor/elements.h"

#include <algorithm>

namespace halftone::translate {
namespace {

using graph::NodeDef;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

template <class T>
Tensor tensorOf(DType held, const std::vector<T> &values, DType type, Shape shape)
{
    std::vector<std::byte> bytes(values.size() * tensor::sizeOf(type));
    if (!values.empty())
        tensor::convert(held, reinterpret_cast<const std::byte *>(values.data()), values.size(), type,
                        bytes.data());
    return Tensor::owning(type, std::move(shape), std::move(bytes));
}

Shape scalarShape()
{
    return Shape(std::vector<std::int64_t>());
}

} // namespace

std::string text(std::int64_t value)
{
    return std::to_string(value);
}

std::string text(double value)
{
    return dialect::onnx::realText(static_cast<float>(value));
}

std::string text(const ops::Dims &values)
{
    return dialect::onnx::listText(std::span(values));
}

NodeWriter::NodeWriter(GraphDraft &draft, NodeId id)
    : m_draft(draft)
    , m_id(id)
    , m_node(draft.source().model.graph.node(id))
{
}

std::size_t NodeWriter::inputCount() const
{
    return m_draft.source().model.graph.inputs(m_id).size();
}

Values NodeWriter::inputs()
{
    Values values;
    for (std::size_t k = 0; k < inputCount(); ++k)
        values.push_back(in(k));
    return values;
}

graph::Entry NodeWriter::sourceOf(std::size_t input) const
{
    return m_draft.source().model.graph.inputs(m_id)[input];
}

const Tensor *NodeWriter::wideParameter(std::size_t input) const
{
    const graph::Graph &graph = m_draft.source().model.graph;
    graph::Entry entry = sourceOf(input);
    while (dialect::isCast(dialect::roleOf(graph, entry.node)))
        entry = graph.inputs(entry.node)[entry.output]; // output k is input k, and one cast has one
    return m_draft.parameter(entry);
}

const Shape &NodeWriter::shape(std::size_t input) const
{
    return m_draft.source().shapes.of(sourceOf(input));
}

DType NodeWriter::type(std::size_t input) const
{
    return m_draft.source().types.of(sourceOf(input));
}

DType NodeWriter::realType(std::size_t input) const
{
    const DType held = type(input);
    return held == DType::I8 || held == DType::U8 ? DType::F32 : held;
}

const Shape &NodeWriter::outShape(std::size_t output) const
{
    return m_draft.source().shapes.byNode[m_id][output];
}

DType NodeWriter::outType(std::size_t output) const
{
    return m_draft.source().types.at(m_id, static_cast<std::uint32_t>(output));
}

Value NodeWriter::add(std::string_view op, const Values &inputs, graph::Attributes attributes,
                      std::size_t outputs)
{
    NodeDef def{std::string(op), {}, std::move(attributes), {}};
    def.name = m_draft.unique(m_node.name + '_' + lowerCase(op));
    def.outputs.push_back(def.name);
    for (std::size_t k = 1; k < outputs; ++k)
        def.outputs.push_back(m_draft.unique(def.name + '_' + std::to_string(k)));
    Values present;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k] == kNone)
            continue;
        present.push_back(inputs[k]);
        def.slots.push_back(static_cast<std::uint32_t>(k));
    }
    const NodeId made = m_draft.graph().add(std::make_shared<const NodeDef>(std::move(def)), present);
    m_own.insert(made);
    return {made, 0, 0};
}

Value NodeWriter::integers(std::string_view what, const ops::Dims &values)
{
    return m_draft.initializer(
        m_node.name + '_' + std::string(what),
        tensorOf(DType::I64, values, DType::I64, Shape{static_cast<std::int64_t>(values.size())}));
}

Value NodeWriter::integer(std::string_view what, std::int64_t value)
{
    return m_draft.initializer(m_node.name + '_' + std::string(what),
                               tensorOf(DType::I64, ops::Dims{value}, DType::I64, scalarShape()));
}

Value NodeWriter::number(std::string_view what, double value, DType type)
{
    return numbers(what, {value}, type, scalarShape());
}

Value NodeWriter::numbers(std::string_view what, const std::vector<double> &values, DType type, Shape shape)
{
    return m_draft.initializer(m_node.name + '_' + std::string(what),
                               tensorOf(DType::F64, values, type, std::move(shape)));
}

Value NodeWriter::floats(std::string_view what, const std::vector<float> &values, Shape shape)
{
    return m_draft.initializer(m_node.name + '_' + std::string(what),
                               tensorOf(DType::F32, values, DType::F32, std::move(shape)));
}

Value NodeWriter::tensor(std::string_view what, Tensor values)
{
    return m_draft.initializer(m_node.name + '_' + std::string(what), std::move(values));
}

Value NodeWriter::cast(const Value &value, DType from, DType to)
{
    return from == to ? value : add("Cast", {value}, {{"to", text(dialect::onnx::codeOf(to))}});
}

void NodeWriter::set(const Value &value, std::size_t k)
{
    m_draft.stand({m_id, static_cast<std::uint32_t>(k), 0}, value);
    if (!m_own.contains(value.node))
        return;
    // What gives the source's output bears the source's names.
    auto def = std::make_shared<NodeDef>(m_draft.graph().node(value.node));
    if (k == 0)
        def->name = m_node.name;
    def->outputs[value.output] = m_draft.nameOf({m_id, static_cast<std::uint32_t>(k), 0});
    m_draft.graph().redefine(value.node, std::move(def));
}

Error NodeWriter::unknownShape() const
{
    return refuse("the shape of its input is unknown");
}

Error NodeWriter::refuse(std::string found) const
{
    return unsupported(m_node.name, m_node.op + ": " + std::move(found));
}

Result<std::size_t> NodeWriter::rank(std::size_t input) const
{
    if (!shape(input).hasRank())
        return unknownShape();
    return shape(input).rank();
}

Result<std::int64_t> NodeWriter::axis(std::int64_t axis, std::size_t input) const
{
    HALFTONE_TRY(const std::size_t axes, rank(input));
    const auto count = static_cast<std::int64_t>(axes);
    const std::int64_t place = axis < 0 ? axis + count : axis;
    if (place < 0 || place >= count)
        return badInput(m_node.name, "axis " + std::to_string(axis) + " of " + std::to_string(count));
    return place;
}

} // namespace halftone::translate
