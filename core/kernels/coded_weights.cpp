#include "core/runtime/fused_int8.h"

#include "core/base/text.h"
#include "core/dialect/mxnet/attribute_text.h"
#include "core/dialect/mxnet/op_info.h"
#include "core/dialect/mxnet/read_operator.h"
#include "core/graph/traverse.h"
#ifdef HALFTONE_HAS_ONEDNN
#include "core/runtime/onednn/backend.h"
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

namespace halftone::runtime {
namespace {

using tensor::DType;
namespace mx = dialect::mxnet;

constexpr double kLargestCode = 2147483647.0; ///< of 32 bits

bool isTrue(const mx::OpInfo &info, const graph::NodeDef &node, std::string_view key)
{
    const auto value = mx::readBoolean(mx::attributeValue(info, node.attributes, key));
    return value.ok() && value.value();
}

std::optional<double> realOf(const graph::NodeDef &node, std::string_view key)
{
    const std::string *text = node.attributes.find(key);
    return text ? parseReal(*text) : std::nullopt;
}

/// Takes one operator of a body, in order.
Result<void> take(FusedInt8 &fused, const ops::Operator &op, const std::string &name)
{
    if (const auto *conv = op.getIf<ops::Conv>()) {
        fused.conv = *conv;
    } else if (const auto *full = op.getIf<ops::FullyConnected>()) {
        fused.full = *full;
    } else if (const auto *norm = op.getIf<ops::BatchNorm>()) {
        fused.norm = *norm;
    } else if (const auto *sum = op.getIf<ops::Binary>(); sum && sum->kind == ops::BinaryKind::Add) {
        fused.hasSum = true;
        if (fused.activation)
            return unsupported(name, "a sum behind an activation inside a fused operator");
    } else if (elementFunction(op) && !fused.activation) {
        fused.activation = op;
    } else {
        return unsupported(name, "an operator inside a fused int8 one that has no place there");
    }
    return {};
}

template <class T>
std::vector<T> copied(const std::byte *bytes, std::size_t count)
{
    std::vector<T> values(count);
    if (count > 0)
        std::memcpy(values.data(), bytes, count * sizeof(T));
    return values;
}

double largest(const float *values, std::size_t count)
{
    float amax = 0;
    for (std::size_t i = 0; i < count; ++i)
        amax = std::max(amax, std::abs(values[i]));
    return amax;
}

std::int32_t clamped(double value)
{
    return static_cast<std::int32_t>(std::clamp(value, -kLargestCode, kLargestCode));
}

/// Codes of weights for 1 as the sums of a plain operator count them, whose range passes through a float32.
double plainScale(double scale, double dataScale)
{
    const double codes = codesOfData(DType::I8);
    const double whole = scale * (codes - 0.5) / codes;
    const auto most = static_cast<float>(kLargestCode / (dataScale * whole));
    return kLargestCode / double{most} / dataScale;
}

/// Weights and bias that are codes already.
CodedWeights withGivenCodes(const FusedInt8 &op, const std::vector<TensorDesc> &descs,
                            std::span<const std::byte *const> inputs, double dataScale)
{
    const auto end = [&](std::size_t place) { return double{copied<float>(inputs[place], 1)[0]}; };
    CodedWeights weights;
    weights.codes = copied<std::int8_t>(inputs[1], static_cast<std::size_t>(*descs[1].shape.elementCount()));
    const double scale = scaleOfRange(DType::I8, end(op.weightEnds()), end(op.weightEnds() + 1));
    weights.scales = {op.isPlain ? plainScale(scale, dataScale) : scale};
    if (!op.hasBias())
        return weights;
    const auto count = static_cast<std::size_t>(*descs[op.bias()].shape.elementCount());
    const double most = std::max(std::abs(end(op.weightEnds() + 2)), std::abs(end(op.weightEnds() + 3)));
    const std::vector<std::int8_t> codes = copied<std::int8_t>(inputs[op.bias()], count);
    if (op.isPlain) { // a bias counts half a code more than the sums do; in the order of the plain operator
        const double scaleOfData = scaleOfRange(descs[0].dtype, end(op.ends()), end(op.ends() + 1));
        const double factor = scaleOfData * scale * most / codesOfData(DType::I8);
        for (const std::int8_t code : codes)
            weights.bias.push_back(clamped(std::trunc(code * factor)));
        return weights;
    }
    const double factor = dataScale * scale / scaleOfRange(DType::I8, -most, most);
    for (const std::int8_t code : codes)
        weights.bias.push_back(clamped(std::round(code * factor)));
    return weights;
}

} // namespace

double codesOfData(DType type)
{
    return type == DType::U8 ? 255.5 : 127.5;
}

double scaleOfRange(DType type, double low, double high)
{
    const double amax = std::max(std::abs(low), std::abs(high));
    return amax > 0 ? codesOfData(type) / amax : kLargestCode;
}

bool FusedInt8::keepsCodes(DType resultType) const
{
    if (!requantized || realOutput || resultType != requantized->type || !isCalibrated())
        return false;
    const auto function = activation ? elementFunction(*activation) : std::nullopt;
    const bool isRelu = function && function->kind == ElementFunction::Kind::Relu && function->alpha == 0;
    return (!activation || isRelu)
        && std::max(std::abs(*range.low), std::abs(*range.high)) == requantized->most;
}

double FusedInt8::dataScale(DType type, double low, double high) const
{
    const double codes = codesOfData(type);
    return scaleOfRange(type, low, high) * (isPlain ? (codes - 0.5) / codes : 1);
}

Result<std::optional<FusedInt8>> readFusedInt8(const graph::NodeDef &node)
{
    const mx::OpInfo *info = node.op.starts_with("_sg_") ? mx::findOp(node.op) : nullptr;
    const bool isConv = node.op.ends_with("dnn_conv");
    if (!info || node.subgraphs.size() != 1 || !isTrue(*info, node, "quantized")
        || !(isConv || node.op.ends_with("dnn_fully_connected")))
        return std::optional<FusedInt8>();
    FusedInt8 fused;
    const graph::Graph &body = *node.subgraphs[0];
    for (const graph::NodeId id : graph::postOrder(body)) {
        if (body.isVariable(id))
            continue;
        HALFTONE_TRY(const ops::Operator op, mx::readOperator(body.node(id)));
        HALFTONE_CHECK(take(fused, op, node.name));
    }
    if (fused.conv.has_value() != isConv)
        return badInput(node.name, "a body without the operator that its name says");
    fused.range = {realOf(node, "min_calib_range"), realOf(node, "max_calib_range")};
    fused.realOutput = isTrue(*info, node, "enable_float_output");
    if (const std::string *cast = node.attributes.find("enabled_float_output"))
        fused.realOutput = *cast == "float32";
    const std::string *perChannel = node.attributes.find("channel_wise_quantize");
    fused.codedWeights
        = !isConv && !(perChannel && (*perChannel == "True" || *perChannel == "true" || *perChannel == "1"));
    return std::optional(std::move(fused));
}

Result<std::unique_ptr<Kernel>> fusedInt8Kernel(const FusedInt8 &op, const Operation &operation,
                                                std::span<const std::shared_ptr<const Backend>> backends)
{
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
#ifdef HALFTONE_HAS_ONEDNN
    if (!backends.empty() && backends.front()->name() == "cpu") {
        auto kernel = onednn::fusedInt8Kernel(op, operation, 0);
        if (kernel.ok())
            return kernel;
    }
#else
    (void)backends;
#endif
    return referenceFusedInt8(op, operation, threads);
}

std::shared_ptr<const FusedInt8> plainProduct(const ops::Operator &op)
{
    FusedInt8 product;
    product.isPlain = true;
    product.codedWeights = true;
    if (const auto *conv = op.getIf<ops::Quantized<ops::Conv>>())
        product.conv = conv->op;
    else if (const auto *full = op.getIf<ops::Quantized<ops::FullyConnected>>(); full && !full->realOutput)
        product.full = full->op;
    else
        return nullptr;
    return std::make_shared<const FusedInt8>(std::move(product));
}

std::optional<Requantized> requantizedTo(const ops::Requantize &op, DType type)
{
    if (!op.range.low || !op.range.high || (type != DType::I8 && type != DType::U8))
        return std::nullopt;
    const double most = std::max(std::abs(*op.range.low), std::abs(*op.range.high));
    if (!(most > 0) || !std::isfinite(most) || (type == DType::U8 && *op.range.low < 0))
        return std::nullopt;
    return Requantized{type, most};
}

ops::CalibratedRange codeLimits(const ops::CalibratedRange &range, tensor::DType type)
{
    const double most = std::max(std::abs(*range.low), std::abs(*range.high));
    return {type == tensor::DType::U8 ? 0 : -most, most};
}

CodedWeights codeWeights(const FusedInt8 &op, const std::vector<TensorDesc> &descs,
                         std::span<const std::byte *const> inputs, double dataScale)
{
    if (op.codedWeights)
        return withGivenCodes(op, descs, inputs, dataScale);
    const auto count = static_cast<std::size_t>(*descs[1].shape.elementCount());
    std::vector<float> real = copied<float>(inputs[1], count);
    const auto channels = static_cast<std::size_t>(descs[1].shape[0]);
    const std::size_t each = channels > 0 ? count / channels : 0;
    std::vector<float> bias
        = op.hasBias() ? copied<float>(inputs[op.bias()], channels) : std::vector<float>();
    if (op.norm) {
        bias.resize(channels);
        const auto part = [&](std::size_t k) { return copied<float>(inputs[op.gamma() + k], channels); };
        const std::vector<float> gamma = part(0), beta = part(1), mean = part(2), variance = part(3);
        for (std::size_t c = 0; c < channels; ++c) {
            const float factor = (op.norm->fixGamma ? 1 : gamma[c])
                / std::sqrt(variance[c] + static_cast<float>(op.norm->epsilon));
            for (std::size_t i = 0; i < each; ++i)
                real[c * each + i] *= factor;
            bias[c] = beta[c] + factor * (bias[c] - mean[c]);
        }
    }
    CodedWeights weights;
    // Without a calibrated range one scale must do for the sums of all channels.
    const bool isPerChannel = op.isCalibrated() || op.realOutput || !op.conv;
    for (std::size_t c = 0; c < (isPerChannel ? channels : 1); ++c) {
        const double amax
            = isPerChannel ? largest(real.data() + c * each, each) : largest(real.data(), count);
        double scale = amax > 0 ? codesOfData(DType::I8) / amax : kLargestCode;
        if (isPerChannel && !bias.empty() && bias[c] != 0)
            scale = std::min(scale, kLargestCode / 2 / std::abs(double{bias[c]}) / dataScale);
        weights.scales.push_back(static_cast<float>(scale));
    }
    weights.codes.resize(count);
    for (std::size_t c = 0; c < channels; ++c) {
        const auto scale = static_cast<float>(weights.scaleOf(c));
        for (std::size_t i = c * each; i < (c + 1) * each; ++i)
            weights.codes[i]
                = static_cast<std::int8_t>(std::clamp(std::nearbyint(real[i] * scale), -128.0F, 127.0F));
        if (!bias.empty())
            weights.bias.push_back(clamped(std::nearbyint(double{bias[c]} * weights.scaleOf(c) * dataScale)));
    }
    return weights;
}

} // namespace halftone::runtime
