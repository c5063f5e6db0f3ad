#include "core/dialect/mxnet/mxnet_dialect.h"

#include "core/base/text.h"
#include "core/dialect/mxnet/attribute_text.h"
#include "core/dialect/mxnet/cpu_arithmetic.h"
#include "core/dialect/mxnet/dtype_code.h"
#include "core/dialect/mxnet/entry_name.h"
#include "core/dialect/mxnet/merging.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/operator_rows.h"
#include "core/dialect/mxnet/read_fused_operator.h"
#include "core/dialect/mxnet/read_operator.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace halftone::dialect::mxnet {
namespace {

using graph::NodeDef;
using graph::NodeDefPtr;
using tensor::DType;
using tensor::Shape;

constexpr std::string_view kTypeKey = "__dtype__";
constexpr std::string_view kShapeKey = "__shape__";
constexpr std::string_view kArgument = "arg:"; // before the names of arrays
constexpr std::string_view kAuxiliary = "aux:";
constexpr std::string_view kFusedPrefix = "_sg_";
constexpr std::string_view kCastMark = "_amp_cast_";
constexpr std::string_view kMultiCastMark = "_amp_multicast";

constexpr std::array<std::pair<std::string_view, NodeRole>, 8> kRoles{
    {{"amp_cast", NodeRole::Cast},
     {"amp_multicast", NodeRole::MultiCast},
     {"_contrib_quantize_v2", NodeRole::Quantize},
     {"_contrib_requantize", NodeRole::Requantize},
     {"_contrib_dequantize", NodeRole::Dequantize},
     {"_foreach", NodeRole::ControlFlow},
     {"_while_loop", NodeRole::ControlFlow},
     {"_cond", NodeRole::ControlFlow}}};

constexpr std::array<std::string_view, 3> kListVersions{"1.9.1", "2.0.0b1", "master"};

NodeDefPtr makeNode(std::string_view op, std::string name, graph::Attributes attributes)
{
    return std::make_shared<const NodeDef>(
        NodeDef{std::string(op), std::move(name), std::move(attributes), {}});
}

/// MXNet 1.x writes 0 for an unknown dimension and () for an unknown rank; np shapes have -1 and None.
bool hasNumpyShapes(const graph::Graph &graph)
{
    const std::string *flag = graph.metadata().find("is_np_shape");
    return flag != nullptr && flag->find('1') != std::string::npos;
}

bool canHave(const AttributeSpec &spec, std::string_view value)
{
    switch (spec.type) {
    case AttributeType::Integer:
        return readInteger(value).ok();
    case AttributeType::Real:
        return readReal(value).ok();
    case AttributeType::Boolean:
        return readBoolean(value).ok();
    case AttributeType::Tuple:
        return readOptionalTuple(value).ok();
    case AttributeType::RealTuple:
        return readRealTuple(value).ok();
    case AttributeType::Enum:
        return std::ranges::find(spec.values, value) != spec.values.end();
    case AttributeType::Text:
        break;
    }
    return true;
}

std::vector<const dialect::OpInfo *> pointersToAll()
{
    std::vector<const dialect::OpInfo *> all;
    for (const OpInfo &op : allOps())
        all.push_back(&op);
    return all;
}

class MxnetDialect final : public Dialect
{
public:
    std::string_view name() const override { return "mxnet"; }
    std::string_view title() const override { return "MXNet"; }
    std::string_view version() const override { return "MXNet 1.9.1"; }

    const dialect::OpInfo *findOp(std::string_view name) const override { return mxnet::findOp(name); }
    std::span<const dialect::OpInfo *const> operators() const override
    {
        static const std::vector<const dialect::OpInfo *> kAll = pointersToAll();
        return kAll;
    }
    bool sameValue(const AttributeSpec &spec, std::string_view a, std::string_view b) const override
    {
        return mxnet::sameValue(spec, a, b);
    }
    bool isValue(const AttributeSpec &spec, std::string_view text) const override
    {
        return (spec.nullable && isNone(text)) || canHave(spec, text);
    }

    NodeRole role(const NodeDef &node) const override;
    Result<ops::Operator> read(const NodeDef &node) const override { return readOperator(node); }
    Result<ops::Operator> readFused(const NodeDef &node) const override { return readFusedOperator(node); }
    Result<OperatorText> write(const ops::Operator &op) const override { return writeOperator(op); }
    FusedFacts fusedFacts(const NodeDef &node) const override;
    std::string entryName(const graph::Graph &graph, const graph::Entry &entry) const override
    {
        return mxnet::entryName(graph, entry);
    }
    std::string attributeKey(const NodeDef &node) const override { return mxnet::attributeKey(node); }

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
    Shape filledShape(const graph::Graph &graph, const NodeDef &node) const override;
    std::string_view variableOf(std::string_view arrayName) const override
    {
        const bool isMarked = arrayName.starts_with(kArgument) || arrayName.starts_with(kAuxiliary);
        return isMarked ? arrayName.substr(kArgument.size()) : arrayName;
    }
    std::string arrayName(std::string_view variable, bool isMutable) const override
    {
        return std::string(isMutable ? kAuxiliary : kArgument).append(variable);
    }

    NodeDefPtr makeCast(std::string name, DType type) const override
    {
        return makeNode("amp_cast", std::move(name), {{"dtype", std::string(tensor::nameOf(type))}});
    }
    NodeDefPtr makeMultiCast(std::string name, std::size_t tensors) const override
    {
        return makeNode("amp_multicast", std::move(name), {{"num_outputs", std::to_string(tensors)}});
    }
    NodeDefPtr makeCopy(std::string name) const override { return makeNode("_copy", std::move(name), {}); }
    std::string castName(std::string base, DType type) const override
    {
        return std::move(base).append(kCastMark).append(tensor::nameOf(type));
    }
    std::string multiCastName(std::string base) const override
    {
        return std::move(base).append(kMultiCastMark);
    }
    bool isCastName(std::string_view name) const override
    {
        return name.find(kCastMark) != std::string_view::npos
            || name.find(kMultiCastMark.substr(1)) != std::string_view::npos;
    }

    OwnMode nodeForNodeMode() const override
    {
        return {"mxnet", "node for node as MXNet 1.9.1", {"convert_model", "convert_symbol"}};
    }

    std::span<const std::string_view> listVersions() const override { return kListVersions; }
    std::string listResource(DType target, std::string_view version) const override
    {
        std::string path = "oplists/" + std::string(tensor::nameOf(target));
        if (version != kListVersions.front())
            path.append(1, '-').append(version);
        return path + ".json";
    }
    /// Those of its own backend are listed as neutral or float32 whatever they hold.
    bool isJudgedByBody(std::string_view op) const override { return op.starts_with(kFusedPrefix); }

    const QuantizedForms *quantizedForms() const override { return &int8Forms(); }
    const Arithmetic *arithmetic() const override { return &cpuArithmetic(); }
};

NodeRole MxnetDialect::role(const NodeDef &node) const
{
    if (node.isVariable())
        return NodeRole::Variable;
    if (node.op.starts_with(kFusedPrefix))
        return NodeRole::Fused;
    const auto *const found
        = std::ranges::find(kRoles, node.op, &std::pair<std::string_view, NodeRole>::first);
    return found == kRoles.end() ? NodeRole::Other : found->second;
}

FusedFacts MxnetDialect::fusedFacts(const NodeDef &node) const
{
    const OpInfo *const info = mxnet::findOp(node.op);
    if (info == nullptr)
        return {};
    const auto quantized = readBoolean(attributeValue(*info, node.attributes, "quantized"));
    const std::string_view cast = attributeValue(*info, node.attributes, "enabled_float_output");
    return {quantized.ok() && quantized.value(), !cast.empty() && !isNone(cast)};
}

Result<DType> MxnetDialect::declaredType(const NodeDef &variable) const
{
    const std::string *const text = variable.attributes.find(kTypeKey);
    if (text == nullptr)
        return DType::Unknown;
    const auto code = parseInteger(*text);
    const auto type = code ? dtypeOfCode(*code) : std::nullopt;
    if (!type && code != -1)
        return badInput(variable.name, std::string(kTypeKey) + " is \"" + *text + "\"",
                        "a type code (0 to 12)");
    return type.value_or(DType::Unknown);
}

NodeDefPtr MxnetDialect::withDeclaredType(const NodeDefPtr &variable, DType type) const
{
    const std::string *const written = variable->attributes.find(kTypeKey);
    std::string code = std::to_string(codeOf(type));
    if (written != nullptr && *written == code)
        return variable;
    auto def = std::make_shared<NodeDef>(*variable);
    def->attributes.set(kTypeKey, std::move(code));
    return def;
}

/// The key is free text to MXNet, so a text that is no shape says nothing.
Shape MxnetDialect::declaredShape(const graph::Graph &graph, const NodeDef &variable) const
{
    const std::string *const text = variable.attributes.find(kShapeKey);
    if (text == nullptr)
        return {};
    const bool isNumpy = hasNumpyShapes(graph);
    auto dims = readTuple(*text);
    if (!dims.ok() || (!isNumpy && dims.value().empty()))
        return {};
    std::vector<std::int64_t> values = std::move(dims).value();
    std::ranges::replace_if(
        values, [isNumpy](std::int64_t dim) { return dim < (isNumpy ? 0 : 1); }, Shape::kUnknown);
    return Shape(std::move(values));
}

Shape MxnetDialect::filledShape(const graph::Graph &graph, const NodeDef &node) const
{
    const std::string *const text = hasNumpyShapes(graph) ? node.attributes.find("shape") : nullptr;
    auto dims = text ? readTuple(*text) : Result<std::vector<std::int64_t>>(std::vector<std::int64_t>());
    const bool isKnown
        = text && dims.ok() && std::ranges::all_of(dims.value(), [](std::int64_t dim) { return dim >= 0; });
    return isKnown ? Shape(std::move(dims).value()) : Shape();
}

} // namespace

const Dialect &mxnetDialect()
{
    static const MxnetDialect kDialect;
    return kDialect;
}

} // namespace halftone::dialect::mxnet
