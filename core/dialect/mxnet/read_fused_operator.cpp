#include "core/dialect/mxnet/read_fused_operator.h"

#include "core/base/text.h"
#include "core/dialect/mxnet/attribute_text.h"
#include "core/dialect/mxnet/cpu_arithmetic.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/read_operator.h"
#include "core/graph/traverse.h"

namespace halftone::dialect::mxnet {
namespace {

bool isTrue(const OpInfo &info, const graph::NodeDef &node, std::string_view key)
{
    const auto value = readBoolean(attributeValue(info, node.attributes, key));
    return value.ok() && value.value();
}

std::optional<double> realOf(const graph::NodeDef &node, std::string_view key)
{
    const std::string *text = node.attributes.find(key);
    return text ? parseReal(*text) : std::nullopt;
}

/// Takes one operator of a body, in order.
Result<void> take(ops::FusedProduct &fused, const ops::Operator &op, const std::string &name)
{
    if (const auto *conv = op.getIf<ops::Conv>()) {
        fused.conv = *conv;
    } else if (const auto *full = op.getIf<ops::FullyConnected>()) {
        fused.full = *full;
    } else if (const auto *norm = op.getIf<ops::BatchNormalization>()) {
        fused.norm = *norm;
    } else if (const auto *sum = op.getIf<ops::Binary>(); sum && sum->kind == ops::BinaryKind::Add) {
        fused.hasSum = true;
        if (fused.activation)
            return unsupported(name, "a fused operator with a sum after its activation is not supported");
    } else if (const auto function = ops::elementFunction(op); function && !fused.activation) {
        fused.activation = function;
    } else {
        return unsupported(name, "a fused int8 operator contains an unsupported operator");
    }
    return {};
}

/// Convolutions are told from fully connected layers by their names.
Result<ops::Operator> readProduct(const graph::NodeDef &node, const OpInfo &info, bool isConv)
{
    ops::FusedProduct fused;
    const graph::Graph &body = *node.subgraphs[0];
    for (const graph::NodeId id : graph::postOrder(body)) {
        if (body.isVariable(id))
            continue;
        HALFTONE_TRY(const ops::Operator op, readOperator(body.node(id)));
        HALFTONE_CHECK(take(fused, op, node.name));
    }
    if (fused.conv.has_value() != isConv)
        return badInput(node.name, "the body does not contain the operator that its name promises");
    fused.range = {realOf(node, "min_calib_range"), realOf(node, "max_calib_range")};
    if (const auto most = realOf(node, kMostCode); most && fused.isCalibrated())
        fused.limits = {0, *most / ops::scaleOfRange(tensor::DType::U8, *fused.range.low, *fused.range.high)};
    fused.realOutput = isTrue(info, node, "enable_float_output");
    if (const std::string *cast = node.attributes.find("enabled_float_output"))
        fused.realOutput = *cast == "float32";
    const std::string *perChannel = node.attributes.find("channel_wise_quantize");
    fused.codedWeights
        = !isConv && !(perChannel && (*perChannel == "True" || *perChannel == "true" || *perChannel == "1"));
    return ops::Operator(std::move(fused));
}

} // namespace

Result<ops::Operator> readFusedOperator(const graph::NodeDef &node)
{
    const OpInfo *info = node.op.starts_with("_sg_") ? findOp(node.op) : nullptr;
    const bool isConv = node.op.ends_with("dnn_conv");
    if (!info || node.subgraphs.size() != 1 || !isTrue(*info, node, "quantized")
        || !(isConv || node.op.ends_with("dnn_fully_connected")))
        return readOperator(node);
    return readProduct(node, *info, isConv);
}

} // namespace halftone::dialect::mxnet
