#include "core/base/text.h"
#include "core/dialect/mxnet/cpu_arithmetic.h"
#include "core/dialect/mxnet/mxnet_dialect.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/range_text.h"
#include "core/dialect/mxnet/read_operator.h"

#include <algorithm>
#include <array>

/// int8Forms() of mxnet_dialect.h: MXNet 1.9.1's names and attributes of int8.
namespace halftone::dialect::mxnet {
namespace {

using graph::NodeDef;
using graph::NodeDefPtr;

constexpr std::string_view kInt8Prefix = "quantized_"; // of nodes' names
constexpr std::string_view kRescalePrefix = "requantize_";
constexpr std::string_view kFusedConvolution = "_sg_mkldnn_conv";
constexpr std::string_view kFusedFull = "_sg_mkldnn_fully_connected";
constexpr const char *kLow = "min_calib_range";
constexpr const char *kHigh = "max_calib_range";

struct FormRow
{
    std::string_view op;
    Int8Kind kind;
    std::string_view plain; ///< its int8 form
};

constexpr std::array kForms{
    FormRow{"Convolution", Int8Kind::Convolution, "_contrib_quantized_conv"},
    FormRow{"FullyConnected", Int8Kind::FullyConnected, "_contrib_quantized_fully_connected"},
    FormRow{"Pooling", Int8Kind::Pooling, "_contrib_quantized_pooling"},
    FormRow{"Activation", Int8Kind::Activation, "_contrib_quantized_act"},
    FormRow{"BatchNorm", Int8Kind::BatchNorm, "_contrib_quantized_batch_norm"},
    FormRow{"Concat", Int8Kind::Concat, "_contrib_quantized_concat"},
    FormRow{"Flatten", Int8Kind::Flatten, "_contrib_quantized_flatten"},
    FormRow{"elemwise_add", Int8Kind::Sum, "_contrib_quantized_elemwise_add"},
    FormRow{"elemwise_mul", Int8Kind::Product, "_contrib_quantized_elemwise_mul"},
    FormRow{"Embedding", Int8Kind::Embedding, "_contrib_quantized_embedding"}};

std::string_view canonical(std::string_view op)
{
    const OpInfo *const info = findOp(op);
    return info ? std::string_view(info->name) : op;
}

std::string_view textOf(ops::QuantizedType type)
{
    return type == ops::QuantizedType::Auto ? "auto" : type == ops::QuantizedType::Int8 ? "int8" : "uint8";
}

void setRange(graph::Attributes &attributes, const CodedRange &range)
{
    attributes.set(kLow, rangeText(range.low));
    attributes.set(kHigh, rangeText(range.high));
}

NodeDefPtr makeCoding(std::string_view op, std::string name, ops::QuantizedType type,
                      const std::optional<CodedRange> &range)
{
    graph::Attributes attributes{{"out_type", std::string(textOf(type))}};
    if (range)
        setRange(attributes, *range);
    return std::make_shared<const NodeDef>(
        NodeDef{std::string(op), std::move(name), std::move(attributes), {}});
}

bool isRelu(const ops::Operator &op)
{
    const auto *activation = op.getIf<ops::Activation>();
    return activation && activation->kind == ops::UnaryKind::Relu;
}

bool isConvolution(const FusedChain &chain)
{
    return chain.kind == Int8Kind::Convolution;
}

/// The functions that MXNet's own backend fuses.
bool isFusable(const ops::Operator &function, std::string_view name, const FusedChain &chain)
{
    using Kind = ops::LeakyRelu::Kind;
    const auto *leaky = function.getIf<ops::LeakyRelu>();
    const auto *clip = function.getIf<ops::Clip>();
    if (isRelu(function) || (leaky && (leaky->kind == Kind::Leaky || leaky->kind == Kind::Gelu)))
        return true;
    if (isConvolution(chain))
        return clip && clip->low == 0 && !chain.hasSum;
    return (leaky && leaky->kind == Kind::Elu) || (clip && clip->low == 0) || name == "abs";
}

class Int8Forms final : public QuantizedForms
{
public:
    Int8Kind kindOf(std::string_view op) const override
    {
        const auto *const row = std::ranges::find(kForms, canonical(op), &FormRow::op);
        return row == kForms.end() ? Int8Kind::None : row->kind;
    }

    bool isIdentity(const NodeDef &node) const override
    {
        const OpInfo *const info = findOp(node.op);
        if (info == nullptr)
            return false;
        return info->name == "_copy"
            || (info->name == "Dropout" && attributeValue(*info, node.attributes, "mode") == "training");
    }

    Result<bool> mayFuse(const NodeDef &function, const FusedChain &chain, bool isCalibrated) const override
    {
        HALFTONE_TRY(const ops::Operator op, readOperator(function));
        return isFusable(op, canonical(function.op), chain)
            && fusesFaithfully(op, isConvolution(chain), isCalibrated, false);
    }

    NodeDefPtr makeFused(const FusedChain &chain, std::size_t number,
                         std::shared_ptr<const graph::Graph> body) const override;
    bool hasSum(const NodeDef &fused) const override { return fused.attributes.find("with_sum") != nullptr; }

    NodeDefPtr makeInt8(const NodeDef &node, const Int8Form &form) const override;
    NodeDefPtr makeQuantize(const std::string &base, ops::QuantizedType type,
                            const std::optional<CodedRange> &range) const override
    {
        return makeCoding("_contrib_quantize_v2", base + "_quantize", type, range);
    }
    NodeDefPtr makeRequantize(const std::string &base, ops::QuantizedType type,
                              const std::optional<CodedRange> &range) const override
    {
        return makeCoding("_contrib_requantize", std::string(kRescalePrefix) + base, type, range);
    }
    NodeDefPtr makeDequantize(const std::string &base) const override
    {
        return std::make_shared<const NodeDef>(NodeDef{"_contrib_dequantize", base + "_dequantize", {}, {}});
    }
    std::string codesName(std::string_view parameter) const override
    {
        return std::string(parameter) + "_quantize";
    }
    std::string lowName(std::string_view codes) const override { return std::string(codes) + "_min"; }
    std::string highName(std::string_view codes) const override { return std::string(codes) + "_max"; }

    std::optional<std::string_view> sourceOf(std::string_view name) const override
    {
        for (const std::string_view prefix : {kInt8Prefix, kRescalePrefix}) {
            if (name.starts_with(prefix))
                return name.substr(prefix.size());
        }
        return std::nullopt;
    }
    bool isInt8Product(const NodeDef &node) const override
    {
        return node.op.starts_with("_sg_mkldnn_") || node.op == "_contrib_quantized_conv"
            || node.op == "_contrib_quantized_fully_connected";
    }
    bool isPerChannel(const NodeDef &node) const override
    {
        return node.op.ends_with("dnn_conv") || node.attributes.find("channel_wise_quantize") != nullptr;
    }

    ops::CalibratedRange rangeOf(const NodeDef &node) const override
    {
        const std::string *const low = node.attributes.find(kLow);
        const std::string *const high = node.attributes.find(kHigh);
        if (low == nullptr || high == nullptr)
            return {};
        return {parseReal(*low).value_or(0), parseReal(*high).value_or(0)};
    }
    bool isWidened(const NodeDef &node) const override { return node.attributes.find(kMostCode) != nullptr; }
    NodeDefPtr withRange(const NodeDef &node, const CodedRange &range) const override
    {
        auto def = std::make_shared<NodeDef>(node);
        setRange(def->attributes, range);
        return def;
    }
    bool needsLongText(const CodedRange &range) const override { return isLongText(range); }
};

NodeDefPtr Int8Forms::makeFused(const FusedChain &chain, std::size_t number,
                                std::shared_ptr<const graph::Graph> body) const
{
    auto def = std::make_shared<NodeDef>();
    const bool isConv = isConvolution(chain);
    def->op = isConv ? kFusedConvolution : kFusedFull;
    def->name = isConv ? "sg_mkldnn_conv_" : "sg_mkldnn_fully_connected_";
    if (chain.hasBatchNorm) {
        def->name += "bn_";
        def->attributes.set("with_bn", "true");
    }
    if (chain.hasSum) {
        def->name += "add_";
        def->attributes.set("with_sum", "true");
    }
    if (chain.hasActivation && isConv) {
        def->name += "act_";
        def->attributes.set(chain.hasSum ? "with_postsum_act" : "with_act", "true");
    } else if (chain.hasActivation) {
        def->name += "eltwise_";
        def->attributes.set("with_eltwise", "True");
    }
    def->name += std::to_string(number);
    def->subgraphs.push_back(std::move(body));
    return def;
}

NodeDefPtr Int8Forms::makeInt8(const NodeDef &node, const Int8Form &form) const
{
    auto def = std::make_shared<NodeDef>(node);
    def->name = std::string(kInt8Prefix) + node.name;
    if (form.isFused)
        def->attributes.set("quantized", form.kind == Int8Kind::Convolution ? "true" : "True");
    else
        def->op = std::ranges::find(kForms, form.kind, &FormRow::kind)->plain;
    if (form.isFused && form.kind == Int8Kind::FullyConnected && form.perChannel)
        def->attributes.set("channel_wise_quantize", "True");
    if (form.realOutput)
        def->attributes.set("enable_float_output", "True");
    if (form.mostCode)
        def->attributes.set(kMostCode, std::to_string(*form.mostCode));
    if (form.range)
        setRange(def->attributes, *form.range);
    return def;
}

} // namespace

const QuantizedForms &int8Forms()
{
    static const Int8Forms kInt8Forms;
    return kInt8Forms;
}

} // namespace halftone::dialect::mxnet
