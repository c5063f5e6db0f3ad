#include "core/dialect/mxnet/cpu_arithmetic.h"

#include "core/base/text.h"
#include "core/dialect/mxnet/attribute_text.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/read_operator.h"

#include <algorithm>

namespace halftone::dialect::mxnet {
namespace {

using graph::NodeDef;
using tensor::DType;
using Kind = Int8Defect::Kind;

template <class... Ops>
bool isOneOf(const ops::Operator &op)
{
    return (op.is<Ops>() || ...);
}

bool isRefusedInBfloat16(const ops::Operator &op)
{
    using Leaky = ops::LeakyRelu::Kind;
    if (const auto *leaky = op.getIf<ops::LeakyRelu>())
        return leaky->kind == Leaky::PRelu || leaky->kind == Leaky::Selu || leaky->kind == Leaky::RandomRelu;
    if (const auto *activation = op.getIf<ops::Activation>())
        return activation->kind == ops::UnaryKind::Softsign;
    if (const auto *pool = op.getIf<ops::Pool>())
        return pool->kind == ops::Pool::Kind::Sum || pool->kind == ops::Pool::Kind::Lp;
    return isOneOf<ops::AttentionProduct, ops::MatMul, ops::Gemm, ops::Recurrence, ops::LayerNormalization,
                   ops::GroupNormalization, ops::InstanceNormalization, ops::LpNormalization,
                   ops::HardSigmoid, ops::Pad, ops::Upsample, ops::Crop, ops::BoxPrior,
                   ops::SoftmaxActivation, ops::Dropout, ops::Transpose>(op);
}

bool isTrue(const OpInfo &info, const NodeDef &node, std::string_view key)
{
    const auto value = readBoolean(attributeValue(info, node.attributes, key));
    return value.ok() && value.value();
}

std::optional<double> realOf(const NodeDef &node, std::string_view key)
{
    const std::string *const text = node.attributes.find(key);
    return text ? parseReal(*text) : std::nullopt;
}

/// The function that is fused into a node behind its product, and its sum.
ops::Operator fusedFunction(const NodeDef &node)
{
    const graph::Graph &body = *node.subgraphs[0];
    const graph::NodeId last = body.heads().empty() ? 0 : body.heads()[0].node;
    auto op = readOperator(body.node(last));
    if (!op.ok() || isOneOf<ops::Conv, ops::FullyConnected, ops::BatchNormalization, ops::Binary>(op.value()))
        return ops::Opaque{};
    return std::move(op).value();
}

std::optional<Int8Defect> sumDefect(DType addend, DType result)
{
    if (!codesOfSum(addend, result))
        return std::nullopt;
    if (result == DType::U8)
        return Int8Defect{Kind::SumCutAbove,
                          "adds int8 codes into a uint8 result, which MXNet saturates at 127 instead of 255"};
    return Int8Defect{Kind::SumCutBelow,
                      "adds uint8 codes into an int8 result, in which MXNet loses all negative values"};
}

/// Weights of a convolution that knows its range have a scale a channel, of which MXNet takes the first ones for all of
/// a group: groups of one filter and convolutions without groups are right.
bool hasGroupsOfFilters(const graph::Graph &body)
{
    for (graph::NodeId id = 0; id < body.nodeCount(); ++id) {
        const auto op = readOperator(body.node(id));
        const auto *const conv = op.ok() ? op.value().getIf<ops::Conv>() : nullptr;
        if (conv && conv->groups > 1 && conv->outputChannels > conv->groups)
            return true;
    }
    return false;
}

std::optional<Int8Defect> fusedDefect(const OpInfo &info, const NodeDef &node, std::span<const DType> inputs,
                                      std::span<const DType> outputs)
{
    if (node.subgraphs.size() != 1 || !isTrue(info, node, "quantized"))
        return std::nullopt;
    const bool isConvolution = node.op.ends_with("dnn_conv");
    const bool isCalibrated = realOf(node, "min_calib_range") && realOf(node, "max_calib_range");
    if (isConvolution && isCalibrated && hasGroupsOfFilters(*node.subgraphs[0]))
        return Int8Defect{
            Kind::OtherNumbers,
            "has groups of several filters with a range each, for which MXNet uses wrong scales"};
    const ops::Operator function = fusedFunction(node);
    if (!function.is<ops::Opaque>()
        && !fusesFaithfully(function, isConvolution, isCalibrated, isTrue(info, node, "enable_float_output")))
        return Int8Defect{
            Kind::OtherFunction,
            "has a fused activation that MXNet ignores or applies to codes, so its result is wrong"};
    constexpr std::size_t kBehindSum = 5; // the sum, low and high of the data, low and high of the sum
    if (!isConvolution || !isTrue(info, node, "with_sum") || inputs.size() < kBehindSum || outputs.empty()
        || node.attributes.find(kMostCode))
        return std::nullopt;
    return sumDefect(inputs[inputs.size() - kBehindSum], outputs[0]);
}

std::optional<Int8Defect> plainConvDefect(const NodeDef &node, std::span<const DType> inputs)
{
    const auto op = readOperator(node);
    const auto *const conv = op.ok() ? op.value().getIf<ops::Quantized<ops::Conv>>() : nullptr;
    if (conv && conv->op.groups > 1)
        return Int8Defect{Kind::Refused,
                          "is a grouped convolution of the plain form, which MXNet does not support"};
    if (!inputs.empty() && inputs[0] == DType::I8)
        return Int8Defect{Kind::Refused, "is a plain convolution of int8 data; MXNet only supports uint8"};
    return Int8Defect{
        Kind::OtherNumbers,
        "is a plain convolution, for which MXNet adds the bias unscaled and reports a wrong range"};
}

/// Codes that cannot say what is below zero.
std::optional<Int8Defect> unsignedDefect(const NodeDef &node, std::span<const DType> outputs)
{
    if (outputs.empty() || outputs[0] != DType::U8)
        return std::nullopt;
    const std::optional<double> low = realOf(node, "min_calib_range");
    if (low && *low >= 0)
        return std::nullopt;
    return Int8Defect{
        Kind::OtherNumbers,
        low ? "quantizes negative values to uint8, which MXNet clips to 0 or rejects"
            : "quantizes to uint8 without a calibrated range, which MXNet clips to 0 or rejects"};
}

} // namespace

Bfloat16Way bfloat16Way(const ops::Operator &op)
{
    if (isRefusedInBfloat16(op))
        return Bfloat16Way::Refused;
    if (const auto *binary = op.getIf<ops::Binary>()) // of these oneDNN has the sum alone
        return binary->kind == ops::BinaryKind::Add && !binary->broadcast ? Bfloat16Way::Rounds
                                                                          : Bfloat16Way::Cuts;
    return isOneOf<ops::Unary, ops::ScalarBinary, ops::SmoothL1>(op) ? Bfloat16Way::Cuts
                                                                     : Bfloat16Way::Rounds;
}

std::optional<CodeSpan> codesOfSum(DType addend, DType result)
{
    const bool isMixed
        = (addend == DType::I8 && result == DType::U8) || (addend == DType::U8 && result == DType::I8);
    return isMixed ? std::optional(CodeSpan{0, 127}) : std::nullopt;
}

bool fusesFaithfully(const ops::Operator &function, bool isConvolution, bool isCalibrated, bool givesReals)
{
    const bool hasScale = isCalibrated || givesReals;
    if (function.is<ops::Clip>()) // as the end of the codes
        return hasScale;
    const auto *const leaky = function.getIf<ops::LeakyRelu>();
    if (leaky == nullptr)
        return true;
    if (leaky->kind == ops::LeakyRelu::Kind::Leaky) // uint8 codes, as behind a ReLU
        return isConvolution || !isCalibrated || givesReals;
    return !isConvolution && hasScale; // on codes as if these were reals
}

std::optional<Int8Defect> int8Defect(const NodeDef &node, std::span<const DType> inputs,
                                     std::span<const DType> outputs)
{
    const OpInfo *const info = findOp(node.op);
    if (info == nullptr)
        return std::nullopt;
    const auto readsUnsigned = [&](std::size_t k) { return k < inputs.size() && inputs[k] == DType::U8; };
    if (node.op.starts_with("_sg_"))
        return fusedDefect(*info, node, inputs, outputs);
    if (info->name == "_contrib_quantized_conv")
        return plainConvDefect(node, inputs);
    if (info->name == "_contrib_quantized_elemwise_mul" && (readsUnsigned(0) || readsUnsigned(1)))
        return Int8Defect{Kind::Refused, "is an int8 product of uint8 codes, which MXNet does not support"};
    if (info->name == "_contrib_quantized_act" && readsUnsigned(0))
        return Int8Defect{Kind::Refused, "is an int8 ReLU of uint8 codes, for which MXNet has no kernel"};
    if (info->name == "_contrib_quantize_v2" || info->name == "_contrib_requantize")
        return unsignedDefect(node, outputs);
    return std::nullopt;
}

namespace {

class CpuArithmetic final : public Arithmetic
{
public:
    std::string_view title() const override { return "MXNet 1.9.1 on a CPU"; }

    Bfloat16Way bfloat16Way(const ops::Operator &op) const override { return mxnet::bfloat16Way(op); }
    std::optional<CodeSpan> codesOfSum(DType addend, DType result) const override
    {
        return mxnet::codesOfSum(addend, result);
    }
    std::optional<Int8Defect> int8Defect(const NodeDef &node, std::span<const DType> inputs,
                                         std::span<const DType> outputs) const override
    {
        return mxnet::int8Defect(node, inputs, outputs);
    }
    std::string spoiltByScale(const ops::Operator &op, bool isOne) const override
    {
        const auto *const norm = op.getIf<ops::BatchNormalization>();
        return norm && norm->fixGamma && !isOne
            ? "MXNet's int8 BatchNorm uses the stored gamma even with fix_gamma"
            : "";
    }
};

} // namespace

const Arithmetic &cpuArithmetic()
{
    static const CpuArithmetic kArithmetic;
    return kArithmetic;
}

} // namespace halftone::dialect::mxnet
