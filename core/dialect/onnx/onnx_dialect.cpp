#include "core/dialect/onnx/onnx_dialect.h"

#include "core/base/text.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/coded_pairs.h"
#include "core/dialect/onnx/control_flow.h"
#include "core/dialect/onnx/element_type.h"
#include "core/dialect/onnx/node_reader.h"
#include "core/dialect/onnx/op_info.h"
#include "core/dialect/onnx/operator_rows.h"
#include "core/dialect/onnx/output_facts.h"
#include "core/dialect/onnx/raise_opset.h"
#include "core/dialect/onnx/write_operator.h"
#include "core/dialect/written_facts.h"
#include "core/graph/traverse.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace halftone::dialect::onnx {
namespace {

using graph::NodeDef;
using graph::NodeDefPtr;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

constexpr std::string_view kCastMark = "_cast_"; // before the name of a float
constexpr std::array<std::string_view, 1> kListVersions{"onnx"};
constexpr std::array<std::string_view, 4> kControlFlow{"If", "Loop", "Scan", "SequenceMap"};

bool runsBodies(const NodeDef &node)
{
    return std::ranges::find(kControlFlow, node.op) != kControlFlow.end()
        || (!node.subgraphs.empty() && node.attributes.find(kCallKey) != nullptr);
}

template <class T>
Tensor tensorOf(DType type, Shape shape, const std::vector<T> &values)
{
    std::vector<std::byte> bytes(values.size() * tensor::sizeOf(type));
    if (!values.empty())
        tensor::convert(sizeof(T) == sizeof(std::int64_t) && std::is_integral_v<T> ? DType::I64 : DType::F64,
                        reinterpret_cast<const std::byte *>(values.data()), values.size(), type,
                        bytes.data());
    return Tensor::owning(type, std::move(shape), std::move(bytes));
}

class OnnxDialect final : public Dialect
{
public:
    explicit OnnxDialect(int opset)
        : m_opset(opset)
        , m_version("ONNX opset " + std::to_string(opset))
    {
    }

    std::string_view name() const override { return "onnx"; }
    std::string_view title() const override { return "ONNX"; }
    std::string_view version() const override { return m_version; }

    const dialect::OpInfo *findOp(std::string_view name) const override { return find(name); }
    std::span<const dialect::OpInfo *const> operators() const override;
    bool sameValue(const AttributeSpec &, std::string_view a, std::string_view b) const override;
    bool isValue(const AttributeSpec &spec, std::string_view text) const override;

    NodeRole role(const NodeDef &node) const override;
    Result<ops::Operator> read(const NodeDef &node) const override { return readWith(node, {}); }
    Result<ops::Operator> readWith(const NodeDef &node, std::span<const Tensor> inputs) const override;
    Result<ops::Operator> readKind(const NodeDef &node) const override;
    Result<OperatorText> write(const ops::Operator &op) const override { return writeOperator(op); }
    NodeDefPtr makeOperatorNode(OperatorText text, std::string name, std::uint32_t inputs) const override
    {
        NodeDef def{std::move(text.op), name, std::move(text.attributes), {}};
        for (std::uint32_t slot = 0; slot < inputs; ++slot)
            def.slots.push_back(slot);
        def.outputs.push_back(std::move(name));
        return std::make_shared<const NodeDef>(std::move(def));
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
    std::string foreignType(const NodeDef &variable) const override
    {
        const std::string *const text = variable.attributes.find(kTypeKey);
        return text != nullptr && isForeign(*text) ? *text : std::string();
    }
    NodeDefPtr withDeclaredType(const NodeDefPtr &variable, DType type) const override;
    Shape declaredShape(const graph::Graph &graph, const NodeDef &variable) const override;
    Shape declaredHead(const graph::Graph &graph, std::size_t head) const override;
    std::optional<std::vector<std::string>> boundAxes(const NodeDef &variable) const override;
    DefaultValue defaultValue(const NodeDef &variable) const override;
    Shape filledShape(const graph::Graph &graph, const NodeDef &node) const override;
    Result<std::optional<Tensor>> constantOf(const NodeDef &node) const override;
    NodeDefPtr withConstant(const NodeDefPtr &node, Tensor values) const override;
    std::string_view variableOf(std::string_view arrayName) const override { return arrayName; }
    std::string arrayName(std::string_view variable, bool) const override { return std::string(variable); }

    NodeDefPtr makeCast(std::string name, DType type) const override
    {
        NodeDef def{"Cast", name, {{"to", std::to_string(codeOf(type))}}, {}};
        def.outputs.push_back(std::move(name));
        return std::make_shared<const NodeDef>(std::move(def));
    }
    NodeDefPtr makeMultiCast(std::string, std::size_t) const override { return nullptr; }
    NodeDefPtr makeConstant(std::string name, Tensor values) const override
    {
        NodeDef def{"Constant", name, {}, {}};
        def.outputs.push_back(std::move(name));
        return withConstant(std::make_shared<const NodeDef>(std::move(def)), std::move(values));
    }
    NodeDefPtr makeCopy(std::string name) const override
    {
        NodeDef def{"Identity", name, {}, {}};
        def.outputs.push_back(std::move(name));
        return std::make_shared<const NodeDef>(std::move(def));
    }
    std::string castName(std::string base, DType type) const override
    {
        return std::move(base).append(kCastMark).append(tensor::nameOf(type));
    }
    std::string multiCastName(std::string base) const override { return std::move(base).append("_widest"); }
    bool isCastName(std::string_view name) const override
    {
        const std::size_t at = name.rfind(kCastMark);
        return at != std::string_view::npos
            && (name.substr(at + kCastMark.size()).starts_with("float")
                || name.substr(at + kCastMark.size()).starts_with("bfloat16"));
    }

    Result<std::optional<Raised>> raised(const graph::Graph &graph, DType target, int wanted) const override
    {
        return raisedOpset(graph, m_opset, target, wanted);
    }
    NeededVersion neededVersion(const graph::Graph &graph, DType target,
                                const IsLowered &isLowered) const override
    {
        return neededOpset(graph, target, isLowered);
    }
    std::vector<graph::NodeId> raisedParts(const graph::Graph &graph) const override
    {
        return partsOfRaised(graph);
    }
    int versionNumber() const override { return m_opset; }
    bool infersParameterTypes() const override { return false; }
    bool storesCastParameters() const override { return true; }
    bool clampsParameters() const override { return true; }

    std::span<const std::string_view> listVersions() const override { return kListVersions; }
    std::string listResource(DType target, std::string_view) const override
    {
        return "oplists/onnx-" + std::string(tensor::nameOf(target)) + ".json";
    }
    bool hasForeignLists() const override { return true; }

    const CodedPairs *codedPairs() const override { return &onnx::codedPairs(); }

private:
    std::optional<Error> unknownAttribute(const NodeDef &node) const;
    const OpInfo *find(std::string_view name) const
    {
        const auto &known = operatorsOf(m_opset);
        const auto found = known.find(name);
        return found == known.end() ? nullptr : found->second;
    }

    int m_opset;
    std::string m_version;
    mutable std::once_flag m_listed;
    mutable std::vector<const dialect::OpInfo *> m_all;
};

// The table is read when somebody asks: whoever converts another format's model only needs to know that this one exists.
std::span<const dialect::OpInfo *const> OnnxDialect::operators() const
{
    std::call_once(m_listed, [this] {
        for (const auto &[name, info] : operatorsOf(m_opset))
            m_all.push_back(info);
        std::ranges::sort(m_all, {}, &dialect::OpInfo::name);
    });
    return m_all;
}

bool OnnxDialect::sameValue(const AttributeSpec &spec, std::string_view a, std::string_view b) const
{
    if (a == b)
        return true;
    if (spec.type == AttributeType::Tuple) {
        const auto left = integersIn(a);
        return left && left == integersIn(b);
    }
    if (spec.type == AttributeType::RealTuple) {
        const auto left = realsIn(a);
        return left && left == realsIn(b);
    }
    const auto left = parseReal(trimmed(a));
    return left && left == parseReal(trimmed(b));
}

bool OnnxDialect::isValue(const AttributeSpec &spec, std::string_view text) const
{
    switch (spec.type) {
    case AttributeType::Integer:
        return parseInteger(trimmed(text)).has_value();
    case AttributeType::Real:
        return parseReal(trimmed(text)).has_value();
    case AttributeType::Tuple:
        return integersIn(text).has_value();
    case AttributeType::RealTuple:
        return realsIn(text).has_value();
    case AttributeType::Boolean:
    case AttributeType::Enum:
    case AttributeType::Text:
        break;
    }
    return true;
}

NodeRole OnnxDialect::role(const NodeDef &node) const
{
    if (node.isVariable())
        return NodeRole::Variable;
    // Other casts may be from integers, which no pass may take for a change of precision.
    // One whose value has the name of a graph's output stands for that output.
    if (node.op == "Cast" && isCastName(node.name) && (node.outputs.empty() || isCastName(node.outputs[0])))
        return NodeRole::Cast;
    return runsBodies(node) ? NodeRole::ControlFlow : NodeRole::Other;
}

/// What the reader of the file did not find among the operator's attributes, as an error.
std::optional<Error> OnnxDialect::unknownAttribute(const NodeDef &node) const
{
    const std::string *const text = node.attributes.find(kUnknownKey);
    const auto names = text ? textsIn(*text) : std::nullopt;
    const OpInfo *const info = find(node.op);
    if (!names || names->empty() || info == nullptr)
        return std::nullopt;
    std::vector<std::string> known;
    for (const AttributeSpec &spec : info->attributes)
        known.push_back(spec.name);
    const std::vector<std::string_view> views(known.begin(), known.end());
    const std::string &name = names->front();
    return badInput(node.name + ": " + printable(name, 60),
                    "unknown attribute of " + node.op + " in this opset"
                        + didYouMean(nearestNames(name, views)),
                    known.empty() ? std::string("no attributes") : "one of " + joined(known));
}

Result<ops::Operator> OnnxDialect::readWith(const NodeDef &node, std::span<const Tensor> inputs) const
{
    if (auto error = unknownAttribute(node))
        return std::move(*error);
    if (runsBodies(node))
        return readControlFlow(node, m_opset);
    const OpInfo *const info = find(node.op);
    const OperatorRow *const row = info ? findRow(node.op) : nullptr;
    if (node.isVariable() || row == nullptr)
        return ops::Operator(ops::Opaque{node.op});
    NodeReader reader(node, *info, m_opset, inputs);
    ops::Operator op = row->read(reader);
    if (reader.error())
        return *reader.error();
    return reader.waits() ? ops::Operator(ops::Opaque{node.op, true}) : op;
}

Result<ops::Operator> OnnxDialect::readKind(const NodeDef &node) const
{
    const OpInfo *const info = find(node.op);
    const OperatorRow *const row = info ? findRow(node.op) : nullptr;
    if (node.isVariable() || row == nullptr)
        return read(node);
    NodeReader reader(node, *info, m_opset, {});
    return row->read(reader);
}

std::string OnnxDialect::entryName(const graph::Graph &graph, const graph::Entry &entry) const
{
    const NodeDef &node = graph.node(entry.node);
    if (entry.output < node.outputs.size() && !node.outputs[entry.output].empty())
        return node.outputs[entry.output];
    return entry.output == 0 ? node.name : node.name + '_' + std::to_string(entry.output);
}

std::string OnnxDialect::attributeKey(const NodeDef &node) const
{
    const OpInfo *const info = find(node.op);
    std::string key;
    if (info != nullptr) {
        for (const AttributeSpec &spec : info->attributes)
            key.append(info->valueOf(node.attributes, spec.name)).append(1, ';');
    }
    for (const auto &[name, value] : node.attributes) {
        if (info == nullptr || info->attribute(name) == nullptr)
            key.append(name).append(1, '=').append(value).append(1, ';');
    }
    addHeld(node, key);
    return key;
}

Result<DType> OnnxDialect::declaredType(const NodeDef &variable) const
{
    return typeIn(variable, kTypeKey);
}

NodeDefPtr OnnxDialect::withDeclaredType(const NodeDefPtr &variable, DType type) const
{
    return withTypeIn(variable, kTypeKey, type);
}

Shape OnnxDialect::declaredHead(const graph::Graph &graph, std::size_t head) const
{
    const auto *const facts = dynamic_cast<const OutputFacts *>(graph.format().get());
    return facts != nullptr && head < facts->heads.size() ? facts->heads[head].shape : Shape();
}

/// Dimensions with a name are open.
Shape OnnxDialect::declaredShape(const graph::Graph &, const NodeDef &variable) const
{
    const std::string *const text = variable.attributes.find(kShapeKey);
    const auto parts = text ? textsIn(*text) : std::nullopt;
    if (!parts)
        return {};
    std::vector<std::int64_t> dims;
    for (const std::string &part : *parts) {
        const auto dim = parseInteger(part);
        dims.push_back(dim && *dim >= 0 ? *dim : Shape::kUnknown);
    }
    return Shape(std::move(dims));
}

std::optional<std::vector<std::string>> OnnxDialect::boundAxes(const NodeDef &variable) const
{
    const std::string *const text = variable.attributes.find(kShapeKey);
    auto axes = text ? textsIn(*text) : std::nullopt;
    if (axes)
        std::ranges::replace(*axes, "?", ""); // one without number or name
    return axes;
}

DefaultValue OnnxDialect::defaultValue(const NodeDef &variable) const
{
    const std::string *const text = variable.attributes.find(kDefaultKey);
    return text == nullptr             ? DefaultValue::None
        : *text == kOverridableDefault ? DefaultValue::Overridable
                                       : DefaultValue::Listed;
}

Shape OnnxDialect::filledShape(const graph::Graph &, const NodeDef &node) const
{
    const auto constant = constantOf(node);
    return constant.ok() && constant.value() ? constant.value()->shape() : Shape();
}

/// Whatever attribute holds the values now, a tensor can be of every type.
NodeDefPtr OnnxDialect::withConstant(const NodeDefPtr &node, Tensor values) const
{
    auto def = std::make_shared<NodeDef>(*node);
    def->attributes
        = {{"value", std::string(nameOfCode(codeOf(values.dtype()))) + listText(values.shape().dims())}};
    def->tensors = {{"value", std::move(values)}};
    return def;
}

Result<std::optional<Tensor>> OnnxDialect::constantOf(const NodeDef &node) const
{
    const OpInfo *const info = node.op == "Constant" ? find(node.op) : nullptr;
    if (info == nullptr)
        return std::optional<Tensor>();
    for (const std::string_view key : {"value", "sparse_value"})
        if (const Tensor *const held = node.tensorOf(key))
            return std::optional(*held);
    NodeReader in(node, *info, m_opset, {});
    std::optional<Tensor> made;
    if (in.has("value_int"))
        made = tensorOf<std::int64_t>(DType::I64, Shape(std::vector<std::int64_t>()),
                                      {in.integer("value_int")});
    else if (in.has("value_float"))
        made = tensorOf<double>(DType::F32, Shape(std::vector<std::int64_t>()), {in.real("value_float")});
    else if (in.has("value_ints"))
        made = tensorOf(DType::I64, Shape{static_cast<std::int64_t>(in.integers("value_ints").size())},
                        in.integers("value_ints"));
    else if (in.has("value_floats"))
        made = tensorOf(DType::F32, Shape{static_cast<std::int64_t>(in.reals("value_floats").size())},
                        in.reals("value_floats"));
    if (in.error())
        return *in.error();
    return made;
}

const OnnxDialect &dialectOf(int opset)
{
    static const auto kDialects = [] {
        std::array<std::unique_ptr<const OnnxDialect>, kNewestOpset + 1> all;
        for (int k = 1; k <= kNewestOpset; ++k)
            all[static_cast<std::size_t>(k)] = std::make_unique<const OnnxDialect>(k);
        return all;
    }();
    return *kDialects[static_cast<std::size_t>(std::clamp(opset, 1, kNewestOpset))];
}

} // namespace

const Dialect &onnxDialect(int opset)
{
    return dialectOf(opset);
}

int opsetOf(const Dialect &dialect)
{
    return dialect.versionNumber();
}

std::string qualifiedName(std::string_view domain, std::string_view op)
{
    if (domain.empty() || domain == "ai.onnx")
        return std::string(op);
    return std::string(domain) + '.' + std::string(op);
}

} // namespace halftone::dialect::onnx
