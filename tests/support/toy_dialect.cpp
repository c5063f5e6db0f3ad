#include "tests/support/toy_dialect.h"

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <memory>

namespace halftone::test {
namespace {

using graph::Attributes;
using graph::NodeDef;
using graph::NodeDefPtr;
using tensor::DType;

struct ToyOp final : dialect::OpInfo
{
    ToyOp(std::string called, std::vector<std::string> slots, const char *types, const char *attributeName)
        : inputs(std::move(slots))
        , rule(types)
    {
        name = std::move(called);
        if (attributeName != nullptr)
            attributes.push_back({attributeName, dialect::AttributeType::Text, true, false, false, {}, {}});
    }

    std::optional<std::size_t> inputCount(const Attributes &) const override { return inputs.size(); }
    bool mayHaveInputs() const override { return true; }
    std::string inputName(const Attributes &, std::size_t input) const override { return inputs[input]; }
    dialect::SlotRole slotRole(const Attributes &, std::size_t input) const override
    {
        return inputs[input] == "w" ? dialect::SlotRole::Weight : dialect::SlotRole::Data;
    }
    bool isMutableInput(std::size_t) const override { return false; }
    bool hasMutableInputs() const override { return false; }
    std::size_t outputCount(const Attributes &) const override { return 1; }
    std::size_t visibleOutputCount(const Attributes &) const override { return 1; }
    std::string outputName(const Attributes &, std::size_t) const override { return "result"; }
    std::string suffixOf(const Attributes &, std::size_t) const override { return ".result"; }
    ops::TypeRule typeRule(const Attributes &written) const override
    {
        return ops::TypeRule::parse(rule,
                                    tensor::dtypeNamed(valueOf(written, "to")).value_or(DType::Unknown));
    }
    bool mayMerge() const override { return true; }

    std::vector<std::string> inputs;
    const char *rule;
};

const std::array<ToyOp, 4> &toyOps()
{
    static const std::array<ToyOp, 4> kOps{
        ToyOp{"Toy.Add", {"x", "y"}, "T, T -> T", nullptr}, ToyOp{"Toy.Cast", {"x"}, "_ -> D", "to"},
        ToyOp{"Toy.Dense", {"x", "w"}, "T, T -> T", "units"}, ToyOp{"Toy.Exp", {"x"}, "T -> T", nullptr}};
    return kOps;
}

class ToyDialect final : public dialect::Dialect
{
public:
    std::string_view name() const override { return "toy"; }
    std::string_view title() const override { return "Toy"; }
    std::string_view version() const override { return "Toy 1"; }

    const dialect::OpInfo *findOp(std::string_view called) const override
    {
        const auto *const found = std::ranges::find(toyOps(), called, &ToyOp::name);
        return found == toyOps().end() ? nullptr : found;
    }
    std::span<const dialect::OpInfo *const> operators() const override
    {
        static const std::array<const dialect::OpInfo *, 4> kAll{&toyOps()[0], &toyOps()[1], &toyOps()[2],
                                                                 &toyOps()[3]};
        return kAll;
    }
    bool sameValue(const dialect::AttributeSpec &, std::string_view a, std::string_view b) const override
    {
        return a == b;
    }
    bool isValue(const dialect::AttributeSpec &, std::string_view) const override { return true; }

    dialect::NodeRole role(const NodeDef &node) const override
    {
        return node.isVariable()    ? dialect::NodeRole::Variable
            : node.op == "Toy.Cast" ? dialect::NodeRole::Cast
                                    : dialect::NodeRole::Other;
    }
    Result<ops::Operator> read(const NodeDef &node) const override
    {
        if (node.op == "Toy.Add")
            return ops::Operator(ops::Binary{ops::BinaryKind::Add});
        if (node.op == "Toy.Exp")
            return ops::Operator(ops::Unary{ops::UnaryKind::Exp});
        if (node.op == "Toy.Cast")
            return ops::Operator(ops::Cast{typeIn(node, "to")});
        const std::string *const units = node.attributes.find("units");
        if (node.op != "Toy.Dense" || units == nullptr)
            return ops::Operator(ops::Opaque{node.op});
        ops::FullyConnected dense;
        dense.units = parseInteger(*units).value_or(0);
        dense.hasBias = false;
        return ops::Operator(dense);
    }
    Result<dialect::OperatorText> write(const ops::Operator &) const override
    {
        return unsupported({}, "an operator that Toy cannot say");
    }
    std::string entryName(const graph::Graph &graph, const graph::Entry &entry) const override
    {
        return graph.node(entry.node).name + (graph.isVariable(entry.node) ? "" : ".result");
    }
    std::string attributeKey(const NodeDef &node) const override
    {
        std::string key;
        for (const auto &[attribute, value] : node.attributes)
            key += attribute + '=' + value + ';';
        return key;
    }

    NodeDefPtr makeVariable(std::string called, Attributes attributes) const override
    {
        return std::make_shared<const NodeDef>(
            NodeDef{"Toy.Input", std::move(called), std::move(attributes), {}, true});
    }
    Result<DType> declaredType(const NodeDef &variable) const override { return typeIn(variable, "type"); }
    bool declaresType(const NodeDef &variable) const override
    {
        return variable.attributes.find("type") != nullptr;
    }
    NodeDefPtr withDeclaredType(const NodeDefPtr &variable, DType type) const override
    {
        auto def = std::make_shared<NodeDef>(*variable);
        def->attributes.set("type", std::string(tensor::nameOf(type)));
        return def;
    }
    tensor::Shape declaredShape(const graph::Graph &, const NodeDef &) const override { return {}; }
    std::string_view variableOf(std::string_view array) const override
    {
        return array.starts_with("p/") ? array.substr(2) : array;
    }
    std::string arrayName(std::string_view variable, bool) const override
    {
        return "p/" + std::string(variable);
    }

    NodeDefPtr makeCast(std::string called, DType type) const override
    {
        return std::make_shared<const NodeDef>(
            NodeDef{"Toy.Cast", std::move(called), {{"to", std::string(tensor::nameOf(type))}}, {}});
    }
    NodeDefPtr makeMultiCast(std::string, std::size_t) const override
    {
        return nullptr;
    } // for conversion node for node only
    NodeDefPtr makeCopy(std::string called) const override
    {
        return std::make_shared<const NodeDef>(NodeDef{"Toy.Copy", std::move(called), {}, {}});
    }
    std::string castName(std::string base, DType type) const override
    {
        return base + ".as." + std::string(tensor::nameOf(type));
    }
    std::string multiCastName(std::string base) const override { return base + ".widest"; }
    bool isCastName(std::string_view called) const override
    {
        return called.find(".as.") != std::string_view::npos;
    }

    std::span<const std::string_view> listVersions() const override
    {
        static constexpr std::array<std::string_view, 1> kVersions{"toy"};
        return kVersions;
    }
    std::string listResource(DType, std::string_view) const override { return "oplists/float16.json"; }

private:
    static DType typeIn(const NodeDef &node, std::string_view key)
    {
        const std::string *const text = node.attributes.find(key);
        return text != nullptr ? tensor::dtypeNamed(*text).value_or(DType::Unknown) : DType::Unknown;
    }
};

} // namespace

const dialect::Dialect &toyDialect()
{
    static const ToyDialect kDialect;
    return kDialect;
}

} // namespace halftone::test
