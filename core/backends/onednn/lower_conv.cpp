#include "core/backends/onednn/lower.h"
#include "core/ops/window.h"

namespace halftone::backends::onednn {
namespace {

using dnnl::algorithm;
using dnnl::prop_kind;

/// What a convolution is to oneDNN.
struct ConvShape
{
    Dims source;
    Dims weights; ///< with a leading dimension of groups, where there are several
    Dims result;
    Dims bias; ///< empty: none
    Dims stride;
    Dims dilate; ///< oneDNN counts from 0
    Dims padBegin;
    Dims padEnd;
};

Desc anyDesc(const Dims &dims, Type type)
{
    return {dims, type, Tag::any};
}

/// The end padding that gives the extent which the shape rule gives.
void fitPadding(ConvShape &shape, const Dims &kernel)
{
    for (std::size_t k = 0; k < kernel.size(); ++k) {
        const auto reach = (kernel[k] - 1) * (shape.dilate[k] + 1) + 1;
        const auto needed
            = (shape.result[2 + k] - 1) * shape.stride[k] + reach - shape.source[2 + k] - shape.padBegin[k];
        shape.padEnd[k] = needed;
    }
}

Result<ConvShape> shapeOf(const Emitter &emitter, const plan::PlanNode &node, const ops::Conv &conv)
{
    if (conv.layout != ops::Layout::ChannelsFirst)
        return unsupported("layout", "channels last");
    HALFTONE_TRY(const ops::Window window, ops::makeWindow(conv.kernel, conv.stride, conv.dilate, conv.pad));
    ConvShape shape;
    shape.source = dimsOf(emitter.desc(node.inputs[0]).shape);
    shape.weights = dimsOf(emitter.desc(node.inputs[1]).shape);
    shape.result = dimsOf(emitter.desc(node.outputs[0]).shape);
    if (node.inputs.size() > 2)
        shape.bias = {shape.result[1]};
    if (conv.groups > 1) {
        shape.weights[0] /= conv.groups;
        shape.weights.insert(shape.weights.begin(), conv.groups);
    }
    shape.stride = window.stride;
    shape.dilate = window.dilate;
    for (auto &dilate : shape.dilate)
        --dilate;
    shape.padBegin = window.padBegin;
    shape.padEnd = window.padEnd;
    fitPadding(shape, conv.kernel);
    return shape;
}

/// A descriptor, and the post-operations that it was made with.
struct ConvChoice
{
    dnnl::convolution_forward::primitive_desc descriptor{nullptr};
    PostOps post;
};

dnnl::convolution_forward::primitive_desc describe(const ConvShape &shape, const Desc &source,
                                                   Type weightType, std::optional<Type> biasType,
                                                   const Desc &result, const dnnl::primitive_attr &attributes)
{
    const Desc weights = anyDesc(shape.weights, weightType);
    const Desc bias = biasType ? anyDesc(shape.bias, *biasType) : Desc();
    return {cpu(),
            prop_kind::forward_inference,
            algorithm::convolution_direct,
            source,
            weights,
            bias,
            result,
            shape.stride,
            shape.dilate,
            shape.padBegin,
            shape.padEnd,
            attributes,
            true};
}

/// The layouts of a convolution's data and result in a network that carries `format` through; nothing where it does not
/// suit, and oneDNN shall choose.
std::optional<std::pair<Desc, Desc>> preferredLayouts(const ConvShape &shape, Format format, Type source,
                                                      Type result)
{
    const auto to = descIn(format, shape.result, result);
    if (!to)
        return std::nullopt;
    // A picture's few channels are read as they come.
    if (format == Format::Blocked && shape.source[1] < channelBlock())
        return std::pair(plainDesc(shape.source, source), *to);
    const auto from = descIn(format, shape.source, source);
    return from ? std::optional(std::pair(*from, *to)) : std::nullopt;
}

Result<ConvChoice> choose(Emitter &emitter, const plan::PlanNode &node, const ConvShape &shape)
{
    HALFTONE_TRY(const Type source, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type weights, floatType(emitter, node.inputs[1]));
    HALFTONE_TRY(const Type result, floatType(emitter, node.outputs[0]));
    std::optional<Type> bias;
    if (!shape.bias.empty()) {
        HALFTONE_TRY(bias, floatType(emitter, node.inputs[2]));
    }
    dnnl::primitive_attr plain;
    plain.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    ConvChoice choice;
    for (const Format format : {emitter.format(), Format::Other}) {
        Desc from = anyDesc(shape.source, source);
        Desc to = anyDesc(shape.result, result);
        if (format != Format::Other) {
            const auto layouts = preferredLayouts(shape, format, source, result);
            if (!layouts)
                continue;
            std::tie(from, to) = *layouts;
        }
        const auto bare = describe(shape, from, weights, bias, to, plain);
        if (!bare || (format != Format::Other && isUnhurried(bare.impl_info_str())))
            continue;
        HALFTONE_TRY(PostOps post, makePostOps(emitter, node, bare.dst_desc()));
        choice.descriptor = node.post.empty()
            ? bare
            : describe(shape, bare.src_desc(), weights, bias, bare.dst_desc(), post.attributes);
        if (!choice.descriptor)
            continue;
        choice.post = std::move(post);
        return choice;
    }
    return unsupported("plan", "oneDNN has no convolution for these types and shapes");
}

} // namespace

Result<void> lowerConv(Emitter &emitter, const plan::PlanNode &node, const ops::Conv &conv)
{
    HALFTONE_TRY(const ConvShape shape, shapeOf(emitter, node, conv));
    HALFTONE_TRY(const bool isDone, lowerWinograd(emitter, node, conv));
    if (isDone)
        return {};
    HALFTONE_TRY(const ConvChoice choice, choose(emitter, node, shape));
    const auto &descriptor = choice.descriptor;
    HALFTONE_TRY(const Place source, emitter.readAs(node.inputs[0], descriptor.src_desc()));
    HALFTONE_TRY(const Place weights, emitter.readAs(node.inputs[1], descriptor.weights_desc()));
    Program::Arguments arguments{{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}};
    if (!shape.bias.empty()) {
        HALFTONE_TRY(const Place bias, emitter.readAs(node.inputs[2], descriptor.bias_desc()));
        arguments.emplace_back(DNNL_ARG_BIAS, bias);
    }
    arguments.insert(arguments.end(), choice.post.arguments.begin(), choice.post.arguments.end());
    arguments.emplace_back(DNNL_ARG_DST,
                           resultPlace(emitter, node.outputs[0], descriptor.dst_desc(), choice.post));
    HALFTONE_TRY(const dnnl::convolution_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::convolution_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

Result<void> lowerConvTranspose(Emitter &emitter, const plan::PlanNode &node,
                                const ops::ConvTranspose &deconv)
{
    if (deconv.layout != ops::Layout::ChannelsFirst)
        return unsupported("layout", "channels last");
    // Where a transposed convolution runs as the gradient of a convolution, oneDNN 3.2 adds the bias last.
    if (node.inputs.size() > 2 && !node.post.empty())
        return unsupported("plan", "oneDNN mixes up bias and post-operations here");
    HALFTONE_TRY(const Type source, floatType(emitter, node.inputs[0]));
    HALFTONE_TRY(const Type weightType, floatType(emitter, node.inputs[1]));
    HALFTONE_TRY(const Type resultType, floatType(emitter, node.outputs[0]));
    HALFTONE_TRY(const ops::Window window,
                 ops::makeWindow(deconv.kernel, deconv.stride, deconv.dilate, deconv.pad));
    const Dims from = dimsOf(emitter.desc(node.inputs[0]).shape);
    const Dims to = dimsOf(emitter.desc(node.outputs[0]).shape);
    Dims dilate = window.dilate;
    Dims padBegin = window.padBegin;
    Dims padEnd(padBegin.size());
    for (std::size_t k = 0; k < padEnd.size(); ++k) {
        --dilate[k];
        const auto whole
            = (from[2 + k] - 1) * window.stride[k] + (window.kernel[k] - 1) * window.dilate[k] + 1;
        // A target shape overrides the padding: what is too much is cut at both ends, the begin getting the rest.
        if (!deconv.targetShape.empty() && deconv.targetShape[k] != 0)
            padBegin[k] = (whole - to[2 + k] + 1) / 2;
        padEnd[k] = whole - to[2 + k] - padBegin[k];
    }
    // oneDNN wants (groups, outputs, inputs, …) and the format has (inputs, outputs / groups, …).
    const Dims given = dimsOf(emitter.desc(node.inputs[1]).shape);
    Dims grouped{deconv.groups, given[0] / deconv.groups, given[1]};
    grouped.insert(grouped.end(), given.begin() + 2, given.end());
    Desc stored = plainDesc(grouped, weightType);
    std::vector<int> swapped(grouped.size());
    for (std::size_t k = 0; k < swapped.size(); ++k)
        swapped[k] = static_cast<int>(k);
    std::swap(swapped[1], swapped[2]);
    stored = stored.permute_axes(swapped);
    const Dims weightDims = stored.get_dims();
    Dims wanted = weightDims;
    if (deconv.groups == 1) {
        wanted.erase(wanted.begin());
        stored = stored.reshape(wanted);
    }
    HALFTONE_TRY(const PostOps bare, makePostOps(emitter, {}, plainDesc(to, resultType)));
    const Desc biasDesc = node.inputs.size() > 2 ? anyDesc({to[1]}, Type::f32) : Desc();
    const auto describe
        = [&](const Desc &sourceDesc, const Desc &resultDesc, const dnnl::primitive_attr &attributes) {
              return dnnl::deconvolution_forward::primitive_desc(
                  cpu(), prop_kind::forward_inference, algorithm::deconvolution_direct, sourceDesc,
                  anyDesc(wanted, weightType), biasDesc, resultDesc, window.stride, dilate, padBegin, padEnd,
                  attributes, true);
          };
    const auto first = describe(anyDesc(from, source), anyDesc(to, resultType), bare.attributes);
    if (!first)
        return unsupported("plan", "oneDNN has no transposed convolution for these types and shapes");
    HALFTONE_TRY(const PostOps post, makePostOps(emitter, node, first.dst_desc()));
    const auto descriptor
        = node.post.empty() ? first : describe(first.src_desc(), first.dst_desc(), post.attributes);
    if (!descriptor)
        return unsupported("plan", "oneDNN does not fuse this into a transposed convolution");
    HALFTONE_TRY(const Place data, emitter.readAs(node.inputs[0], descriptor.src_desc()));
    HALFTONE_TRY(const Place weights, emitter.readThrough(node.inputs[1], stored, descriptor.weights_desc()));
    Program::Arguments arguments{{DNNL_ARG_SRC, data}, {DNNL_ARG_WEIGHTS, weights}};
    if (node.inputs.size() > 2) {
        HALFTONE_TRY(const Place bias, emitter.readAs(node.inputs[2], descriptor.bias_desc()));
        arguments.emplace_back(DNNL_ARG_BIAS, bias);
    }
    arguments.insert(arguments.end(), post.arguments.begin(), post.arguments.end());
    arguments.emplace_back(DNNL_ARG_DST, resultPlace(emitter, node.outputs[0], descriptor.dst_desc(), post));
    HALFTONE_TRY(const dnnl::deconvolution_forward primitive,
                 attempt(node.members[0], [&] { return dnnl::deconvolution_forward(descriptor); }));
    emitter.add(primitive, descriptor.impl_info_str(), std::move(arguments), descriptor.scratchpad_desc());
    return {};
}

} // namespace halftone::backends::onednn
