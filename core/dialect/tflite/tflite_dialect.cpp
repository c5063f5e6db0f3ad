#include "core/dialect/tflite/tflite_dialect.h"

#include "core/base/text.h"
#include "core/dialect/tflite/node_fields.h"
#include "core/dialect/tflite/op_info.h"
#include "core/dialect/written_facts.h"
#include "core/graph/traverse.h"

#include <array>
#include <memory>
#include <utility>

namespace halftone::dialect::tflite {
namespace {

using graph::NodeDef;
using graph::NodeDefPtr;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr std::string_view kCastMark = "_cast_"; // before the name of a float
constexpr std::array<std::string_view, 1> kListVersions{"tflite"};

NodeDefPtr oneOutput(std::string_view op, std::string name, graph::Attributes attributes,
                     std::vector<std::uint32_t> slots)
{
    NodeDef def{std::string(op), name, std::move(attributes), {}};
    def.slots = std::move(slots);
    def.outputs.push_back(std::move(name));
    return std::make_shared<const NodeDef>(std::move(def));
}

/// The node's body, once: each of its variables says which input of the node it is.
std::optional<ops::ControlFlow> readBody(const NodeDef &node)
{
    const graph::Graph &body = *node.subgraphs[0];
    ops::ControlFlow flow;
    flow.kind = ops::ControlFlow::Kind::Call;
    flow.outputs = std::ssize(body.heads());
    for (const graph::NodeId id : graph::postOrder(body)) {
        if (!body.isVariable(id))
            continue;
        const std::string *const inner = body.node(id).attributes.find(kBodyInputKey);
        const auto place = inner == nullptr ? std::nullopt : parseInteger(*inner);
        if (!place || *place < 0 || *place >= std::ssize(node.slots))
            return std::nullopt;
        flow.bodyLocations.push_back(*place);
    }
    return flow;
}

class TfliteDialect final : public Dialect
{
public:
    std::string_view name() const override { return "tflite"; }
    std::string_view title() const override { return "TensorFlow Lite"; }
    std::string_view version() const override { return "TensorFlow Lite schema 3"; }

    const dialect::OpInfo *findOp(std::string_view name) const override { return operatorNamed(name); }
    std::span<const dialect::OpInfo *const> operators() const override { return allOperators(); }
    bool sameValue(const AttributeSpec &, std::string_view a, std::string_view b) const override
    {
        return a == b;
    }
    bool isValue(const AttributeSpec &, std::string_view) const override { return true; }

    NodeRole role(const NodeDef &node) const override;
    Result<ops::Operator> read(const NodeDef &node) const override { return readWith(node, {}); }
    Result<ops::Operator> readWith(const NodeDef &node, std::span<const Tensor> inputs) const override;
    Result<ops::Operator> readKind(const NodeDef &node) const override;
    Result<OperatorText> write(const ops::Operator &) const override
    {
        return unsupported({}, "an operator that is not written in this format");
    }
    std::string entryName(const graph::Graph &graph, const graph::Entry &entry) const override;
    std::string attributeKey(const NodeDef &node) const override;

    NodeDefPtr makeVariable(std::string name, graph::Attributes attributes) const override
    {
        return std::make_shared<const NodeDef>(
            NodeDef{std::string(kVariableOp), std::move(name), std::move(attributes), {}, true});
    }
    Result<DType> declaredType(const NodeDef &variable) const override;
    bool declaresType(const NodeDef &variable) const override
    {
        return variable.attributes.find(kTypeKey) != nullptr;
    }
    NodeDefPtr withDeclaredType(const NodeDefPtr &variable, DType type) const override;
    Shape declaredShape(const graph::Graph &graph, const NodeDef &variable) const override;
    Shape filledShape(const graph::Graph &, const NodeDef &node) const override
    {
        const Tensor *const held = node.op == kConstantOp ? node.tensorOf("value") : nullptr;
        return held == nullptr ? Shape() : held->shape();
    }
    Result<std::optional<Tensor>> constantOf(const NodeDef &node) const override;
    NodeDefPtr withConstant(const NodeDefPtr &node, Tensor values) const override;
    std::string_view variableOf(std::string_view arrayName) const override { return arrayName; }
    std::string arrayName(std::string_view variable, bool) const override { return std::string(variable); }

    NodeDefPtr makeCast(std::string name, DType type) const override
    {
        return oneOutput("CAST", std::move(name),
                         {{std::string(kTypesKey), std::string(tensor::nameOf(type))}}, {0});
    }
    NodeDefPtr makeMultiCast(std::string, std::size_t) const override { return nullptr; }
    NodeDefPtr makeConstant(std::string name, Tensor values) const override
    {
        return withConstant(oneOutput(kConstantOp, std::move(name), {}, {}), std::move(values));
    }
    NodeDefPtr makeCopy(std::string name) const override
    {
        return oneOutput(kCopyOp, std::move(name), {}, {0});
    }
    std::string castName(std::string base, DType type) const override
    {
        return std::move(base).append(kCastMark).append(tensor::nameOf(type));
    }
    std::string multiCastName(std::string base) const override { return std::move(base).append("_widest"); }
    bool isCastName(std::string_view name) const override
    {
        const std::size_t at = name.rfind(kCastMark);
        const std::string_view type = at == std::string_view::npos ? "" : name.substr(at + kCastMark.size());
        return type.starts_with("float") || type.starts_with("bfloat16");
    }
    std::span<const std::string_view> listVersions() const override { return kListVersions; }
    std::string listResource(DType target, std::string_view) const override
    {
        return "oplists/tflite-" + std::string(tensor::nameOf(target)) + ".json";
    }
    bool infersParameterTypes() const override { return false; }
    bool storesCastParameters() const override { return true; }
    bool clampsParameters() const override { return true; }
};

NodeRole TfliteDialect::role(const NodeDef &node) const
{
    if (node.isVariable())
        return NodeRole::Variable;
    if (node.op == "CAST" && isCastName(node.name))
        return NodeRole::Cast;
    return node.subgraphs.empty() ? NodeRole::Other : NodeRole::ControlFlow;
}

Result<ops::Operator> TfliteDialect::readWith(const NodeDef &node, std::span<const Tensor> inputs) const
{
    if (node.op == kCopyOp)
        return ops::Operator(ops::Unary{});
    if (node.isVariable() || node.attributes.find(kShownOnlyKey) != nullptr)
        return ops::Operator(ops::Opaque{node.op});
    if (node.subgraphs.size() == 1) {
        auto flow = readBody(node);
        return flow ? ops::Operator(std::move(*flow)) : ops::Operator(ops::Opaque{node.op});
    }
    const OperatorRow *const row = findRow(node.op);
    if (row == nullptr)
        return ops::Operator(ops::Opaque{node.op});
    NodeFields fields(node, inputs);
    for (std::size_t slot = 0; slot < row->inputs; ++slot)
        if (!fields.hasInput(slot))
            return badInput(node.name, "input " + std::to_string(slot) + " of " + node.op + " is missing",
                            std::to_string(row->inputs) + " inputs");
    ops::Operator op = row->read(fields);
    if (fields.error())
        return *fields.error();
    return fields.waits() ? ops::Operator(ops::Opaque{node.op, true}) : op;
}

Result<ops::Operator> TfliteDialect::readKind(const NodeDef &node) const
{
    const OperatorRow *const row = findRow(node.op);
    if (node.isVariable() || row == nullptr || !node.subgraphs.empty()
        || node.attributes.find(kShownOnlyKey) != nullptr)
        return read(node);
    NodeFields fields(node, {});
    return row->read(fields);
}

std::string TfliteDialect::entryName(const graph::Graph &graph, const graph::Entry &entry) const
{
    const NodeDef &node = graph.node(entry.node);
    if (entry.output < node.outputs.size() && !node.outputs[entry.output].empty())
        return node.outputs[entry.output];
    return entry.output == 0 ? node.name : node.name + '_' + std::to_string(entry.output);
}

std::string TfliteDialect::attributeKey(const NodeDef &node) const
{
    std::string key;
    for (const auto &[name, value] : node.attributes)
        key.append(name).append(1, '=').append(value).append(1, ';');
    addHeld(node, key);
    return key;
}

Result<DType> TfliteDialect::declaredType(const NodeDef &variable) const
{
    return typeIn(variable, kTypeKey);
}

NodeDefPtr TfliteDialect::withDeclaredType(const NodeDefPtr &variable, DType type) const
{
    return withTypeIn(variable, kTypeKey, type);
}

/// Extents that the file leaves open are -1.
Shape TfliteDialect::declaredShape(const graph::Graph &, const NodeDef &variable) const
{
    const std::string *const text = variable.attributes.find(kShapeKey);
    auto dims = text ? integersIn(*text) : std::nullopt;
    return dims ? Shape(std::move(*dims)) : Shape();
}

NodeDefPtr TfliteDialect::withConstant(const NodeDefPtr &node, Tensor values) const
{
    auto def = std::make_shared<NodeDef>(*node);
    def->attributes.set(std::string(kTypesKey), std::string(tensor::nameOf(values.dtype())));
    def->tensors = {{"value", std::move(values)}};
    return def;
}

Result<std::optional<Tensor>> TfliteDialect::constantOf(const NodeDef &node) const
{
    const Tensor *const held = node.op == kConstantOp ? node.tensorOf("value") : nullptr;
    return held == nullptr ? std::optional<Tensor>() : std::optional<Tensor>(*held);
}

} // namespace

const Dialect &tfliteDialect()
{
    static const TfliteDialect kDialect;
    return kDialect;
}

} // namespace halftone::dialect::tflite
