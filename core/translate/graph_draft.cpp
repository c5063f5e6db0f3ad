#include "core/dialect/dialect.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/output_facts.h"
#include "core/dialect/stored_arrays.h"
#include "core/translate/node_writer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace halftone::translate {
namespace {

using graph::NodeDef;
using graph::NodeId;

/// "[data_0,3,224,224]": an axis that is not known has a name.
std::string shapeText(const std::string &name, const tensor::Shape &shape)
{
    std::vector<std::string> parts;
    for (std::size_t k = 0; k < shape.rank(); ++k)
        parts.push_back(shape[k] >= 0 ? std::to_string(shape[k]) : name + '_' + std::to_string(k));
    return dialect::onnx::listText(std::span(std::as_const(parts)));
}

/// What a variable says of itself, as one that was read from a file does.
graph::Attributes factsOf(const std::string &name, tensor::DType type, const tensor::Shape &shape)
{
    return {{std::string(dialect::onnx::kTypeKey), std::string(tensor::nameOf(type))},
            {std::string(dialect::onnx::kShapeKey), shapeText(name, shape)}};
}

Error noRank(const std::string &name)
{
    return orElse(unsupported(name, "its rank is unknown, but ONNX needs it"), Field::Shape,
                  "for the inputs");
}

/// What casts that a conversion inserted make a value of.
graph::Entry beforeCasts(const graph::Graph &graph, graph::Entry entry)
{
    while (dialect::isCast(dialect::roleOf(graph, entry.node))
           && dialect::of(graph).isCastName(graph.node(entry.node).name)
           && entry.output < graph.inputs(entry.node).size())
        entry = graph.inputs(entry.node)[entry.output]; // output k is input k, and one cast has one
    return entry;
}

tensor::Tensor oneFloat(double value)
{
    const auto held = static_cast<float>(value);
    std::vector<std::byte> bytes(sizeof held);
    std::memcpy(bytes.data(), &held, sizeof held);
    return tensor::Tensor::owning(tensor::DType::F32, tensor::Shape{1}, std::move(bytes));
}

} // namespace

GraphDraft::GraphDraft(const Source &source, const dialect::Dialect &target)
    : m_source(source)
    , m_target(target)
    , m_graph(target)
    , m_now(source.model.graph.nodeCount())
{
    const graph::Graph &graph = source.model.graph;
    m_arrays = dialect::storedArrays(source.model);
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        m_names.insert(graph.node(id).name);
    nameOutputsAsBeforeCasts();
}

void GraphDraft::nameOutputsAsBeforeCasts()
{
    const graph::Graph &source = m_source.model.graph;
    const dialect::Dialect &from = dialect::of(source);
    const auto headed = [&source](const graph::Entry &entry) {
        return std::ranges::find(source.heads(), entry) != source.heads().end();
    };
    for (const graph::Entry &head : source.heads()) {
        const graph::Entry before = beforeCasts(source, head);
        if (before == head || headed(before) || m_renamed.contains({before.node, before.output}))
            continue;
        const std::string name = from.entryName(source, before);
        const bool isVariable
            = source.isVariable(before.node); // keeps its name, and a copy of it has another
        m_renamed[{head.node, head.output}] = isVariable ? unique(name) : name;
        if (!isVariable)
            m_renamed[{before.node, before.output}]
                = unique(name + '_' + std::string(tensor::nameOf(m_source.types.of(before))));
    }
}

std::string GraphDraft::nameOf(const graph::Entry &entry) const
{
    const auto found = m_renamed.find({entry.node, entry.output});
    const graph::Graph &source = m_source.model.graph;
    return found == m_renamed.end() ? dialect::of(source).entryName(source, entry) : found->second;
}

std::string GraphDraft::unique(const std::string &wanted)
{
    std::string name = wanted;
    for (int n = 1; !m_names.insert(name).second; ++n)
        name = wanted + '_' + std::to_string(n);
    return name;
}

void GraphDraft::stand(const graph::Entry &entry, const Value &value)
{
    auto &outputs = m_now[entry.node];
    if (outputs.size() <= entry.output)
        outputs.resize(entry.output + 1, kNone);
    outputs[entry.output] = value;
}

std::optional<double> GraphDraft::endOf(const graph::Entry &entry) const
{
    const auto found = m_ends.find({entry.node, entry.output});
    if (found != m_ends.end())
        return found->second;
    const tensor::Tensor *const held = parameter(entry);
    if (held == nullptr || held->dtype() != tensor::DType::F32 || held->elementCount() != 1)
        return std::nullopt;
    return double{held->values<float>()[0]};
}

void GraphDraft::setEnd(const graph::Entry &entry, double end)
{
    m_ends[{entry.node, entry.output}] = end;
}

Value GraphDraft::now(const graph::Entry &entry)
{
    const auto &outputs = m_now[entry.node];
    if (entry.output < outputs.size() && outputs[entry.output] != kNone)
        return outputs[entry.output];
    Value value = m_source.model.graph.isVariable(entry.node) ? variable(entry.node) : kNone;
    if (const auto end = m_ends.find({entry.node, entry.output}); end != m_ends.end())
        value = initializer(nameOf(entry) + "_value", oneFloat(end->second));
    if (value == kNone && !m_error)
        m_error = unsupported(m_source.model.graph.node(entry.node).name,
                              m_source.model.graph.node(entry.node).op + ": output "
                                  + std::to_string(entry.output) + " has no counterpart in ONNX");
    stand(entry, value);
    return value;
}

Value GraphDraft::variable(NodeId id)
{
    const NodeDef &def = m_source.model.graph.node(id);
    const auto found = m_arrays.find(def.name);
    if (found == m_arrays.end())
        return input(id);
    if (found->second->storage != tensor::Storage::Dense)
        m_error = unsupported(def.name, "a sparse parameter cannot be written as ONNX");
    tensor::Array array = *found->second;
    array.name = def.name;
    const Value value{
        m_graph.add(m_target.makeVariable(def.name, factsOf(def.name, array.values.dtype(), array.shape)),
                    {}),
        0, 0};
    m_parameters.push_back(std::move(array));
    return value;
}

Value GraphDraft::input(NodeId id)
{
    const std::string &name = m_source.model.graph.node(id).name;
    const graph::Entry entry{id, 0, 0};
    const tensor::Shape &shape = m_source.shapes.of(entry);
    const tensor::DType known = m_source.types.of(entry);
    const tensor::DType type = known == tensor::DType::Unknown ? tensor::DType::F32 : known;
    if (!shape.hasRank() && !m_error)
        m_error = noRank(name);
    return {m_graph.add(m_target.makeVariable(name, factsOf(name, type, shape)), {}), 0, 0};
}

Value GraphDraft::initializer(const std::string &name, tensor::Tensor values)
{
    tensor::Array array;
    array.name = unique(name);
    array.shape = values.shape();
    array.values = std::move(values);
    const Value value{
        m_graph.add(m_target.makeVariable(array.name, factsOf(array.name, array.values.dtype(), array.shape)),
                    {}),
        0, 0};
    m_parameters.push_back(std::move(array));
    return value;
}

const tensor::Tensor *GraphDraft::parameter(const graph::Entry &entry) const
{
    if (!m_source.model.graph.isVariable(entry.node))
        return nullptr;
    const auto found = m_arrays.find(m_source.model.graph.node(entry.node).name);
    return found == m_arrays.end() || found->second->storage != tensor::Storage::Dense
        ? nullptr
        : &found->second->values;
}

Result<graph::Model> GraphDraft::finish()
{
    const graph::Graph &source = m_source.model.graph;
    auto facts = std::make_shared<dialect::onnx::OutputFacts>();
    Values heads;
    for (const graph::Entry &head : source.heads()) {
        Value value = now(head);
        if (m_error)
            return *m_error;
        const std::string wanted = nameOf(head);
        // An output has the name of what is computed there; what only passes another value on gets a node for that.
        if (m_target.entryName(m_graph, value) != wanted || m_graph.isVariable(value.node)
            || std::ranges::find(heads, value) != heads.end()) {
            NodeDef copy = *m_target.makeCopy(unique(wanted));
            value = {m_graph.add(std::make_shared<const NodeDef>(std::move(copy)), std::array{value}), 0, 0};
        }
        heads.push_back(value);
        facts->heads.push_back({m_source.types.of(head), m_source.shapes.of(head)});
        if (!facts->heads.back().shape.hasRank())
            return noRank(wanted);
    }
    m_graph.setHeads(std::move(heads));
    m_graph.setFormat(std::move(facts));
    return graph::Model{std::move(m_graph), std::move(m_parameters), true};
}

} // namespace halftone::translate
