#include "core/backends/onednn/int8_scales.h"
#include "core/kernels/coded_weights.h"
#include "core/ops/window.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halftone::backends::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

Result<std::shared_ptr<const kernels::CodedWeights>>
codedWeights(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op, double dataScale)
{
    std::vector<kernels::TensorDesc> descs;
    std::vector<std::vector<std::byte>> aligned(node.inputs.size());
    std::vector<const std::byte *> bytes;
    std::vector<tensor::Tensor> sources;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        const plan::PlanValue &value = emitter.graph().values[node.inputs[k]];
        descs.push_back(value.desc);
        const bool isParameter = (k > 0 && k < op.ends() && !(op.hasSum && k == op.addend()))
            || (op.codedWeights && k >= op.weightEnds()) || (op.isPlain && k >= op.ends());
        if (isParameter && !value.constant)
            return unsupported("plan", "weights that are only known at run time");
        if (isParameter) {
            const auto stored = value.constant->bytes();
            aligned[k].assign(stored.begin(), stored.end());
            sources.push_back(*value.constant);
        }
        bytes.push_back(aligned[k].data());
    }
    const auto make = [&]() -> Result<std::shared_ptr<const kernels::CodedWeights>> {
        return std::make_shared<const kernels::CodedWeights>(
            kernels::codeWeights(op, descs, bytes, dataScale));
    };
    if (!emitter.cache())
        return make();
    return emitter.cache()->get<kernels::CodedWeights>(
        "int8 weights " + std::to_string(std::bit_cast<std::uint64_t>(dataScale)) + (op.norm ? " norm" : "")
            + (op.isPlain ? " plain" : ""),
        sources, make);
}

Result<Int8Product> productOf(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    const tensor::DType type = emitter.desc(node.outputs[0]).dtype;
    const bool isSum = type == tensor::DType::I32;
    if (!addsExactly())
        return unsupported("plan", "this processor adds products of codes in 16 bits, which may saturate");
    if (isSum && !op.isPlain)
        return unsupported("plan", "sums of 32 bits, whose range is only known at run time");
    Int8Product product;
    product.hasResultScale = !op.realOutput && !isSum;
    HALFTONE_TRY(const Int8Ends ends,
                 codeEnds(emitter, node.inputs[0], node.inputs[op.ends()], node.inputs[op.ends() + 1]));
    product.dataScale = op.dataScale(emitter.desc(node.inputs[0]).dtype, ends.low, ends.high);
    if (product.hasResultScale) {
        HALFTONE_TRY(product.resultScale, resultScale(emitter, node));
    }
    HALFTONE_TRY(const std::shared_ptr<const kernels::CodedWeights> weights,
                 codedWeights(emitter, node, op, product.dataScale));
    if (op.isPlain) { // whole numbers, which float32 holds exactly up to 2^24
        product.bias.assign(weights->bias.begin(), weights->bias.end());
        product.sumStep = 1 / (product.dataScale * weights->scales[0]);
        if (op.keepsCodes(type))
            product.resultScale = op.requantized->scale() * product.sumStep;
    } else {
        for (const double scale : weights->scales)
            product.weightSteps.push_back(static_cast<float>(1 / scale));
        for (std::size_t c = 0; c < weights->bias.size(); ++c)
            product.bias.push_back(
                static_cast<float>(weights->bias[c] / (product.dataScale * weights->scaleOf(c))));
    }
    // Aliases the cache's bytes, so that what is packed from them is told by where they lie.
    const auto *const data = reinterpret_cast<const std::byte *>(weights->codes.data());
    product.codes = tensor::Tensor(tensor::DType::I8, emitter.desc(node.inputs[1]).shape,
                                   {data, weights->codes.size()}, weights);
    return product;
}

/// Post-operations and scales.
struct Int8Attributes
{
    dnnl::primitive_attr attributes;
    Program::Arguments arguments;
    std::optional<Place> sum; ///< the result overwrites the addend
    double unit = 1; ///< reals that 1 stands for before the post-operations
    double resultUnit = 1; ///< and behind them
};

/// f(k·x) = k·f(x) for k > 0.
bool isHomogeneous(const Eltwise &function)
{
    return function.algorithm == algorithm::eltwise_relu;
}

/// Rounds to codes first, as two operators would, and goes on with these.
Int8Attributes afterRequantizing(const ops::FusedProduct &op, const std::optional<Eltwise> &function,
                                 double sumStep)
{
    const ops::Requantized &codes = *op.requantized;
    const bool isSigned = codes.type == tensor::DType::I8;
    const double step = codes.most / ops::codesOfData(codes.type);
    Int8Attributes made;
    made.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    double low = isSigned ? -128 : 0;
    double high = isSigned ? 127 : 255;
    dnnl::post_ops chain;
    chain.append_eltwise(algorithm::eltwise_linear, static_cast<float>(codes.scale() * sumStep), 0);
    chain.append_eltwise(algorithm::eltwise_round, 0, 0);
    const bool isClip = function && function->algorithm == algorithm::eltwise_clip;
    const bool isRelu = function && function->algorithm == algorithm::eltwise_relu && function->alpha == 0;
    if (isClip) { // of codes as well
        high = std::clamp(function->beta / step, low, high);
        low = std::clamp(function->alpha / step, low, high);
    } else if (isRelu) {
        low = 0;
    }
    chain.append_eltwise(algorithm::eltwise_clip, static_cast<float>(low), static_cast<float>(high));
    const bool isLater = function && !isClip && !isRelu;
    if (isLater || op.realOutput)
        chain.append_eltwise(algorithm::eltwise_linear, static_cast<float>(step), 0);
    else
        made.resultUnit = step;
    if (isLater)
        chain.append_eltwise(function->algorithm, function->alpha, function->beta);
    made.attributes.set_post_ops(chain);
    return made;
}

Result<Int8Attributes> attributesOf(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op,
                                    const Desc &result, double sumStep)
{
    Int8Attributes made;
    made.attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    std::optional<Eltwise> function;
    if (op.activation)
        function = eltwiseOf(*op.activation);
    if (op.requantized && !op.keepsCodes(emitter.desc(node.outputs[0]).dtype))
        return afterRequantizing(op, function, sumStep);
    dnnl::post_ops chain;
    if (op.hasSum) {
        const plan::ValueId addend = node.inputs[op.addend()];
        HALFTONE_TRY(
            const double scale,
            codeScale(emitter, addend, node.inputs[op.addendEnds()], node.inputs[op.addendEnds() + 1]));
        const auto type = dnnlType(emitter.desc(addend).dtype);
        const auto layout = withType(result, type.value_or(Type::undef));
        HALFTONE_TRY(const Place place, emitter.readAs(addend, layout));
        const bool fits = layout.get_size() == result.get_size();
        if (fits && emitter.mayOverwrite(addend, place)) {
            chain.append_sum(static_cast<float>(1 / scale), 0, *type);
            made.sum = place;
        } else if (!function || isHomogeneous(*function)) {
            made.unit = made.resultUnit = 1 / scale; // oneDNN adds a tensor as it is
            chain.append_binary(algorithm::binary_add, place.desc);
            made.arguments.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, place);
        } else {
            return unsupported("plan", "a sum that cannot overwrite its addend, before this activation");
        }
    }
    if (op.limits.low && op.limits.high) { // cutting at 0 is ReLU already
        const bool isRelu
            = function && function->algorithm == algorithm::eltwise_relu && function->alpha == 0;
        if (function && !isRelu)
            chain.append_eltwise(function->algorithm, function->alpha, function->beta);
        const double low = isRelu ? std::max(*op.limits.low, 0.0) : *op.limits.low;
        chain.append_eltwise(algorithm::eltwise_clip, static_cast<float>(low / made.unit),
                             static_cast<float>(*op.limits.high / made.unit));
    } else if (function) {
        chain.append_eltwise(function->algorithm, function->alpha, function->beta);
    }
    if (op.realOutput && made.resultUnit != 1) {
        chain.append_eltwise(algorithm::eltwise_linear, static_cast<float>(made.resultUnit), 0);
        made.resultUnit = 1;
    }
    made.attributes.set_post_ops(chain);
    return made;
}

/// Says which scales there are; their values come with the arguments.
void setScales(dnnl::primitive_attr &attributes, const Int8Product &product, bool isGrouped)
{
    if (!product.weightSteps.empty()) {
        attributes.set_scales_mask(DNNL_ARG_SRC, 0);
        attributes.set_scales_mask(DNNL_ARG_WEIGHTS, product.weightSteps.size() == 1 ? 0 : isGrouped ? 3 : 1);
    }
    if (product.hasResultScale)
        attributes.set_scales_mask(DNNL_ARG_DST, 0);
}

Result<void> addScales(Emitter &emitter, const Int8Product &product, const Int8Attributes &units,
                       Program::Arguments &arguments)
{
    if (!product.weightSteps.empty()) {
        HALFTONE_TRY(const Place data,
                     floats(emitter, {static_cast<float>(1 / product.dataScale / units.unit)}));
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, data);
        HALFTONE_TRY(const Place weights, floats(emitter, product.weightSteps));
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, weights);
    }
    if (product.hasResultScale) {
        HALFTONE_TRY(const Place result,
                     floats(emitter, {static_cast<float>(1 / product.resultScale / units.resultUnit)}));
        arguments.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, result);
    }
    return {};
}

Result<void> addBias(Emitter &emitter, const Int8Product &product, double unit, Program::Arguments &arguments)
{
    if (product.bias.empty())
        return {};
    std::vector<float> bias = product.bias;
    for (float &value : bias)
        value = static_cast<float>(value / unit);
    HALFTONE_TRY(const Place place, floats(emitter, bias));
    arguments.emplace_back(DNNL_ARG_BIAS, place);
    return {};
}

bool isSlow(const char *kernel)
{
    const std::string_view name(kernel);
    return name.starts_with("ref") || name.starts_with("gemm");
}

struct ConvChoice
{
    dnnl::convolution_forward::primitive_desc descriptor{nullptr};
    Int8Attributes attributes;
};

Result<ConvChoice> chooseConv(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op,
                              const Int8Product &product)
{
    const ops::Conv &conv = *op.conv;
    const Dims from = dimsOf(emitter.desc(node.inputs[0]).shape);
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    Dims weights = dimsOf(emitter.desc(node.inputs[1]).shape);
    if (conv.groups > 1) {
        weights[0] /= conv.groups;
        weights.insert(weights.begin(), conv.groups);
    }
    HALFTONE_TRY(const ops::Window window, ops::makeWindow(conv.kernel, conv.stride, conv.dilate, conv.pad));
    Dims dilate = window.dilate;
    Dims padEnd = window.padEnd;
    for (std::size_t k = 0; k < dilate.size(); ++k) {
        --dilate[k];
        const auto reach = (window.kernel[k] - 1) * window.dilate[k] + 1;
        padEnd[k] = (to[2 + k] - 1) * window.stride[k] + reach - from[2 + k] - window.padBegin[k];
    }
    const auto sourceType = dnnlType(emitter.desc(node.inputs[0]).dtype);
    const auto resultType = dnnlType(emitter.desc(node.outputs[0]).dtype);
    if (!sourceType || !resultType)
        return unsupported("plan", "a type that oneDNN lacks");
    const Desc bias = product.bias.empty() ? Desc() : Desc(Dims{to[1]}, Type::f32, Tag::a);
    const auto describe
        = [&](const Desc &source, const Desc &result, const dnnl::primitive_attr &attributes) {
              return dnnl::convolution_forward::primitive_desc(
                  cpu(), prop_kind::forward_inference, algorithm::convolution_direct, source,
                  Desc(weights, Type::s8, Tag::any), bias, result, window.stride, dilate, window.padBegin,
                  padEnd, attributes, true);
          };
    for (const bool isFixed : {true, false}) {
        const Desc source = isFixed ? codeLayout(from, *sourceType) : Desc(from, *sourceType, Tag::any);
        Desc result = isFixed ? codeLayout(to, *resultType) : Desc(to, *resultType, Tag::any);
        if (!isFixed) { // the addend wants to know where the result lies
            dnnl::primitive_attr bare;
            setScales(bare, product, conv.groups > 1);
            const auto free = describe(source, result, bare);
            if (!free)
                break;
            result = free.dst_desc();
        }
        ConvChoice choice;
        HALFTONE_TRY(choice.attributes, attributesOf(emitter, node, op, result, product.sumStep));
        setScales(choice.attributes.attributes, product, conv.groups > 1);
        choice.descriptor = describe(source, result, choice.attributes.attributes);
        if (choice.descriptor && (!isFixed || !isSlow(choice.descriptor.impl_info_str())))
            return choice;
    }
    return unsupported("plan", "oneDNN has no int8 convolution for these shapes");
}

Place resultPlace(Emitter &emitter, plan::ValueId value, const Desc &desc, const Int8Attributes &attributes)
{
    if (!attributes.sum)
        return emitter.write(value, desc);
    const Place place{desc, attributes.sum->buffer};
    emitter.replace(value, place);
    return place;
}

Result<void> lowerInt8Conv(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    if (op.conv->layout != ops::Layout::ChannelsFirst)
        return unsupported("layout", "channels last");
    HALFTONE_TRY(const Int8Product product, productOf(emitter, node, op));
    HALFTONE_TRY(const bool isDone, lowerCodeConv(emitter, node, op, product));
    if (isDone)
        return {};
    HALFTONE_TRY(const ConvChoice choice, chooseConv(emitter, node, op, product));
    const auto &descriptor = choice.descriptor;
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], descriptor.src_desc()));
    const Desc weightDesc = descriptor.weights_desc();
    HALFTONE_TRY(const Place weights,
                 emitter.constant(product.codes, plainDesc(weightDesc.get_dims(), Type::s8), weightDesc));
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    HALFTONE_CHECK(addBias(emitter, product, choice.attributes.unit, arguments));
    HALFTONE_CHECK(addScales(emitter, product, choice.attributes, arguments));
    arguments.insert(arguments.end(), choice.attributes.arguments.begin(), choice.attributes.arguments.end());
    arguments.emplace_back(DNNL_ARG_DST,
                           resultPlace(emitter, node.outputs[0], descriptor.dst_desc(), choice.attributes));
    HALFTONE_TRY(const dnnl::convolution_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::convolution_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerInt8Full(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    HALFTONE_TRY(const Int8Product product, productOf(emitter, node, op));
    const Dims from = productDims(emitter.desc(node.inputs[0]).shape, op.full.flatten);
    const auto sourceType = dnnlType(emitter.desc(node.inputs[0]).dtype);
    const auto resultType = dnnlType(emitter.desc(node.outputs[0]).dtype);
    if (from.size() > 5 || !sourceType || !resultType)
        return unsupported("plan", "oneDNN has no inner product for this");
    Dims weightDims = from;
    weightDims[0] = emitter.desc(node.inputs[1]).shape[0];
    const Dims to{from[0], weightDims[0]};
    const Desc bias = product.bias.empty() ? Desc() : Desc(Dims{to[1]}, Type::f32, Tag::a);
    HALFTONE_TRY(Int8Attributes attributes,
                 attributesOf(emitter, node, op, plainDesc(to, *resultType), product.sumStep));
    setScales(attributes.attributes, product, false);
    const auto describe = [&](const Desc &source) {
        return dnnl::inner_product_forward::primitive_desc(
            cpu(), prop_kind::forward_inference, source, Desc(weightDims, Type::s8, Tag::any), bias,
            plainDesc(to, *resultType), attributes.attributes, true);
    };
    // The weights are packed for the data as they lie.
    HALFTONE_TRY(const Place lies, emitter.read(node.inputs[0]));
    dnnl::inner_product_forward::primitive_desc descriptor(nullptr);
    if (lies.desc.get_dims() == from)
        descriptor = describe(lies.desc);
    if (!descriptor || isSlow(descriptor.impl_info_str()))
        descriptor = describe(Desc(from, *sourceType, Tag::any));
    if (!descriptor)
        return unsupported("plan", "oneDNN has no int8 inner product for these types");
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], descriptor.src_desc()));
    const Desc weightDesc = descriptor.weights_desc();
    HALFTONE_TRY(const Place weights,
                 emitter.constant(product.codes, plainDesc(weightDims, Type::s8), weightDesc));
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    HALFTONE_CHECK(addBias(emitter, product, attributes.unit, arguments));
    HALFTONE_CHECK(addScales(emitter, product, attributes, arguments));
    const Dims given = dimsOf(emitter.desc(node.outputs[0]).shape);
    Place result = emitter.write(node.outputs[0], plainDesc(given, *resultType));
    result.desc = descriptor.dst_desc();
    arguments.emplace_back(DNNL_ARG_DST, result);
    HALFTONE_TRY(const dnnl::inner_product_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::inner_product_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

} // namespace

Result<void> lowerFusedProduct(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op)
{
    return op.conv ? lowerInt8Conv(emitter, node, op) : lowerInt8Full(emitter, node, op);
}

} // namespace halftone::backends::onednn
