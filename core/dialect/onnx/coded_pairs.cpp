#include "core/dialect/onnx/coded_pairs.h"

#include "core/base/checked_math.h"
#include "core/base/text.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/weight_forms.h"

#include <algorithm>
#include <limits>

namespace halftone::dialect::onnx {
namespace {

using graph::NodeDef;
using graph::NodeDefPtr;

/// Opsets from which on the nodes are there, and have an axis.
constexpr int kOpsetOfPairs = 10;
constexpr int kOpsetOfAxes = 13;

constexpr std::array<std::string_view, 2> kFused{"Relu", "Clip"};
constexpr std::array<std::string_view, 10> kMoves{"DepthToSpace", "Flatten",  "Identity",     "MaxPool",
                                                  "Reshape",      "Slice",    "SpaceToDepth", "Squeeze",
                                                  "Transpose",    "Unsqueeze"};
constexpr std::array<std::string_view, 5> kComputes{"Add", "AveragePool", "Concat", "GlobalAveragePool",
                                                    "Mul"};

constexpr std::array<std::string_view, 7> kOnCodes{
    "ConvInteger",   "DynamicQuantizeLSTM",  "DynamicQuantizeMatMul",
    "MatMulInteger", "MatMulIntegerToFloat", "QAttention",
    "QGemm"};
constexpr std::array<std::string_view, 3> kProducts{"Conv", "Gemm", "MatMul"};

template <class Names>
bool isIn(const Names &names, std::string_view op)
{
    return std::ranges::find(names, op) != names.end();
}

bool isOne(const NodeDef &node, std::string_view key)
{
    const std::string *const text = node.attributes.find(key);
    return text == nullptr || parseReal(*text) == 1.0;
}

bool isSet(const NodeDef &node, std::string_view key)
{
    const std::string *const text = node.attributes.find(key);
    return text != nullptr && parseInteger(*text).value_or(0) != 0;
}

NodeDefPtr node(std::string_view op, std::string_view value, std::optional<std::size_t> axis,
                std::uint32_t inputs)
{
    NodeDef def{std::string(op), std::string(value).append("_").append(op), {}, {}};
    for (std::uint32_t slot = 0; slot < inputs; ++slot)
        def.slots.push_back(slot);
    if (axis)
        def.attributes.set("axis", std::to_string(*axis));
    def.outputs.push_back(def.name + "_Output");
    return std::make_shared<const NodeDef>(std::move(def));
}

std::int64_t numberOf(const NodeDef &node, std::string_view key, std::int64_t otherwise)
{
    const std::string *const text = node.attributes.find(key);
    return text != nullptr ? parseInteger(*text).value_or(otherwise) : otherwise;
}

class OnnxPairs final : public CodedPairs
{
public:
    int versionFor(bool perChannel) const override { return perChannel ? kOpsetOfAxes : kOpsetOfPairs; }

    bool hasForm(std::string_view op) const override
    {
        return isIn(kProducts, op) || isIn(kMoves, op) || isIn(kComputes, op);
    }

    std::optional<CodedProduct> productOf(const NodeDef &node) const override
    {
        if (node.op == "Conv")
            return CodedProduct{{0, 1}, 2, true, true};
        if (node.op == "MatMul")
            return CodedProduct{};
        if (node.op != "Gemm")
            return std::nullopt;
        CodedProduct product;
        if (isOne(node, "alpha") && isOne(node, "beta"))
            product.bias = 2;
        return product;
    }

    std::optional<std::size_t> channelAxis(const NodeDef &product, std::size_t factor,
                                           std::size_t rank) const override
    {
        if (factor != 1)
            return std::nullopt;
        if (product.op == "Conv")
            return 0;
        if (rank != 2) // stacks of matrices, and vectors
            return std::nullopt;
        return product.op == "Gemm" && isSet(product, "transB") ? 0 : 1;
    }

    bool isFused(const NodeDef &node) const override { return isIn(kFused, node.op); }
    CodedSupport supportOf(const NodeDef &node) const override
    {
        return isIn(kMoves, node.op)   ? CodedSupport::Moves
            : isIn(kComputes, node.op) ? CodedSupport::Computes
                                       : CodedSupport::None;
    }
    bool isPairNode(const NodeDef &node) const override
    {
        return node.op == kCode || node.op == kDecode || node.op == "DynamicQuantizeLinear";
    }

    bool isLikePairNode(const NodeDef &node) const override { return node.op.ends_with("uantizeLinear"); }
    bool isDecode(const NodeDef &node) const override { return node.op == kDecode; }
    bool computesCodes(const NodeDef &node) const override
    {
        constexpr std::string_view kContrib = "com.microsoft.";
        std::string_view op = node.op;
        if (op.starts_with(kContrib))
            op.remove_prefix(kContrib.size());
        return op.starts_with("QLinear") || isIn(kOnCodes, op);
    }

    NodeDefPtr makeCode(std::string_view value, std::optional<std::size_t> axis) const override
    {
        return node(kCode, value, axis, 3);
    }
    NodeDefPtr makeDecode(std::string_view value, std::optional<std::size_t> axis,
                          bool hasZeroPoint) const override
    {
        return node(kDecode, value, axis, hasZeroPoint ? 3 : 2);
    }
    NodeDefPtr makeScaled(const NodeDef &node) const override
    {
        NodeDef def{"Mul", node.name, {}, {}};
        def.outputs = node.outputs;
        return std::make_shared<const NodeDef>(std::move(def));
    }
    NodeDefPtr withNorm(const NodeDef &product, const NodeDef &norm) const override
    {
        auto def = std::make_shared<NodeDef>(product);
        def->outputs = norm.outputs;
        def->slots = {0, 1, 2};
        return def;
    }
    NodeDefPtr makeOperator(const NodeDef &product, std::string result, bool hasBias) const override
    {
        if (product.op != "Conv" && product.op != "MatMul")
            return nullptr;
        NodeDef def{"QLinear" + product.op, product.name, product.attributes, {}};
        for (std::uint32_t slot = 0; slot < (hasBias ? 9U : 8U); ++slot)
            def.slots.push_back(slot);
        def.outputs.push_back(std::move(result));
        return std::make_shared<const NodeDef>(std::move(def));
    }
    std::optional<std::pair<float, float>> cutOf(const NodeDef &node,
                                                 std::span<const tensor::Tensor> inputs) const override
    {
        constexpr float kMost = std::numeric_limits<float>::max();
        if (node.op == "Relu")
            return std::pair(0.0F, kMost);
        std::pair cut(-kMost, kMost);
        const auto take = [&node](std::string_view key, float &end) { // of an older opset
            const std::string *const text = node.attributes.find(key);
            const auto value = text ? parseReal(*text) : std::nullopt;
            end = value ? static_cast<float>(*value) : end;
        };
        take("min", cut.first);
        take("max", cut.second);
        for (std::size_t k = 1; k < inputs.size(); ++k) {
            if (inputs[k].dtype() != tensor::DType::F32 || inputs[k].elementCount() != 1)
                return std::nullopt;
            (node.slotOf(k) == 1 ? cut.first : cut.second) = inputs[k].values<float>()[0];
        }
        return cut;
    }
    std::optional<WeightCodes> weightCodes(const NodeDef &node) const override
    {
        WeightCodes codes;
        codes.block = numberOf(node, "block_size", 0);
        if (node.op == kDecode)
            return codes;
        if (node.op != kProductOfBlocks)
            return std::nullopt;
        constexpr std::int64_t kUsualBits = 4;
        codes.codes = 1;
        codes.scales = 2;
        codes.zeroPoints = 3;
        codes.bits = static_cast<int>(numberOf(node, "bits", kUsualBits));
        codes.elements = checkedMultiply(numberOf(node, "K", 0), numberOf(node, "N", 0)).value_or(0);
        return codes;
    }
    std::string codesName(std::string_view value) const override
    {
        return std::string(value).append("_quantized");
    }
    std::string scaleName(std::string_view value) const override
    {
        return std::string(value).append("_scale");
    }
    std::string zeroPointName(std::string_view value) const override
    {
        return std::string(value).append("_zero_point");
    }
    const WeightForms *weightForms() const override { return &onnx::weightForms(); }

private:
    static constexpr std::string_view kCode = "QuantizeLinear";
    static constexpr std::string_view kDecode = "DequantizeLinear";
    static constexpr std::string_view kProductOfBlocks = "com.microsoft.MatMulNBits";
};

} // namespace

const CodedPairs &codedPairs()
{
    static const OnnxPairs kPairs;
    return kPairs;
}

} // namespace halftone::dialect::onnx
