#include "core/backends/cuda/channel_window.h"
#include "core/backends/cuda/library_product.h"
#include "core/backends/cuda/lower.h"
#include "core/backends/cuda/spatial_text.h"

#include <algorithm>
#include <cstring>

namespace halftone::backends::cuda {
namespace {

using plan::PlanNode;
using plan::ValueId;
using tensor::DType;

/// A convolution's window, data and weight, as the kernels see them.
struct ConvNode
{
    SpatialText text;
    Place data;
    Place weight;
    View weightView; ///< (O, I / groups, kernel…)
    std::optional<ValueId> bias;
    Place to;
};

/// All but the weight.
template <class Op>
Result<ConvNode> convNode(Emitter &emitter, const Op &op, Order order)
{
    const PlanNode &node = emitter.node();
    const bool isFirst = op.layout == ops::Layout::ChannelsFirst;
    HALFTONE_TRY(const Place data, // libraries want all of it in one order
                 emitter.program().gpu().hasLibraries() && isFirst ? emitter.readAs(node.inputs[0], order)
                                                                   : emitter.read(node.inputs[0]));
    ConvNode conv;
    conv.data = data;
    HALFTONE_TRY(conv.text.window, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    if (op.hasBias)
        conv.bias = node.inputs[2];
    conv.text.groups = op.groups;
    conv.text.data = channelsFirst(data.view, op.layout);
    conv.to = emitter.write(node.outputs[0], op.layout == ops::Layout::ChannelsFirst ? order : Order::Plain);
    conv.text.result = channelsFirst(conv.to.view, op.layout);
    return conv;
}

template <class Op>
Result<void> readWeight(Emitter &emitter, const Op &op, Order order, ConvNode &conv)
{
    HALFTONE_TRY(conv.weight,
                 emitter.readAs(emitter.node().inputs[1],
                                op.layout == ops::Layout::ChannelsFirst ? order : Order::Plain));
    conv.weightView = channelsFirst(conv.weight.view, op.layout);
    return {};
}

/// What stands behind a convolution; operands stand in the result's own axes, the kernel walks those with channels in front.
Result<Behind> behindConvolution(Emitter &emitter, const ConvNode &conv)
{
    const bool isLast
        = conv.text.result.dims != conv.to.view.dims || conv.text.result.strides != conv.to.view.strides;
    return behindProduct(emitter, conv.bias, conv.text.result, 1, [isLast](const View &view) {
        return std::optional(isLast ? channelsFirst(view, ops::Layout::ChannelsLast) : view);
    });
}

void ownConvolution(Emitter &emitter, const ConvNode &conv, const Behind &behind, const std::string &body,
                    std::string label, double flops)
{
    std::vector<BufferId> buffers{conv.data.buffer, conv.weight.buffer};
    buffers.insert(buffers.end(), behind.buffers.begin(), behind.buffers.end());
    buffers.push_back(conv.to.buffer);
    const std::vector<DType> types{conv.data.view.dtype, conv.weight.view.dtype};
    emitter.launchProduct(perElement(types, conv.text.result, body, behind.text, std::move(label)),
                          std::move(buffers), flops);
}

ProductDesc productOf(Emitter &emitter, const ConvNode &conv, const View &data, const View &weight)
{
    ProductDesc desc{.isConvolution = true, .a = data, .b = weight, .c = conv.text.result};
    desc.stride = conv.text.window.stride;
    desc.dilate = conv.text.window.dilate;
    desc.padBegin = conv.text.window.padBegin;
    desc.padEnd = conv.text.window.padEnd;
    desc.groups = conv.text.groups;
    desc.allowsTf32 = emitter.options().allowsTf32;
    return desc;
}

/// Each channel by itself, by a kernel of our own: it moves no more than the data, where the engines of libraries are made for sums over
/// many channels.
/// returns  nothing for another convolution, or data in another order
std::optional<Result<void>> lowerDepthwise(Emitter &emitter, const ops::Conv &op, ConvNode &conv)
{
    const ValueId weight = emitter.node().inputs[1];
    const std::int64_t channels = conv.text.data.dims[1];
    if (op.groups != channels || conv.text.result.dims[1] != channels || op.kernel.size() != 2
        || emitter.graph().desc(weight).dtype != conv.text.data.dtype)
        return std::nullopt;
    const auto behind = behindConvolution(emitter, conv);
    if (!behind.ok())
        return Result<void>(behind.error());
    auto kernel = channelWindow(conv.text, {}, behind.value().text, "depthwise convolution");
    if (!kernel)
        return std::nullopt;
    View taps = viewOf(emitter.graph().desc(weight)); // (kernel…, channels) in memory
    taps.strides = op.layout == ops::Layout::ChannelsFirst ? Dims{1, 1, op.kernel[1] * channels, channels}
                                                           : Dims{1, op.kernel[1] * channels, channels, 1};
    const auto place = emitter.readLaidOut(weight, taps);
    if (!place.ok())
        return Result<void>(place.error());
    std::vector<BufferId> buffers{conv.data.buffer, place.value().buffer};
    buffers.insert(buffers.end(), behind.value().buffers.begin(), behind.value().buffers.end());
    buffers.push_back(conv.to.buffer);
    const ProductDesc desc = productOf(emitter, conv, conv.text.data, channelsFirst(taps, op.layout));
    emitter.launchProduct(std::move(*kernel), std::move(buffers), workOf(desc).flops);
    return Result<void>();
}

/// The weight with zeros for channels that the data do not have.
Result<Place> paddedWeight(Emitter &emitter, ValueId value, std::int64_t channels)
{
    const tensor::Tensor &weight = *emitter.graph().values[value].constant;
    const View from = viewOf(emitter.graph().desc(value));
    Dims dims = from.dims;
    dims[1] = channels;
    const View to = viewOf({from.dtype, tensor::Shape(dims)}, Order::ChannelsLast);
    const std::size_t size = tensor::sizeOf(from.dtype);
    auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(countOf(dims)) * size);
    const Walk walk = walkOver(std::vector<View>{from, sliced(to, 1, 0, from.dims[1])});
    Dims at(walk.dims.size(), 0);
    for (std::int64_t i = 0; i < countOf(from.dims); ++i) {
        std::int64_t source = 0;
        std::int64_t target = 0;
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            source += at[axis] * walk.strides[0][axis];
            target += at[axis] * walk.strides[1][axis];
        }
        std::memcpy(bytes->data() + static_cast<std::size_t>(target) * size,
                    weight.bytes().data() + static_cast<std::size_t>(source) * size, size);
        for (std::size_t axis = at.size(); axis-- > 0 && ++at[axis] == walk.dims[axis];)
            at[axis] = 0;
    }
    return Place{emitter.program().addConstant(*bytes, bytes), to};
}

/// The first convolution of a network over pictures: with as many channels as tensor cores take at once, those behind the data's own
/// being 0.
Result<void> lowerPadded(Emitter &emitter, const ops::Conv &op)
{
    const PlanNode &node = emitter.node();
    std::vector<std::string> members;
    HALFTONE_TRY(const Place data, emitter.readNarrow(node.inputs[0], members));
    const kernels::TensorDesc &given = emitter.graph().desc(node.inputs[0]);
    ConvNode conv;
    HALFTONE_TRY(conv.text.window, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    if (op.hasBias)
        conv.bias = node.inputs[2];
    conv.to = emitter.write(node.outputs[0], Order::ChannelsLast);
    conv.text.result = conv.to.view;
    Dims dims = data.view.dims;
    dims[1] = kChannelsTogether;
    const View padded = viewOf({given.dtype, tensor::Shape(dims)}, Order::ChannelsLast);
    HALFTONE_TRY(const Place weight, paddedWeight(emitter, node.inputs[1], kChannelsTogether));
    ProductDesc desc = productOf(emitter, conv, padded, weight.view);
    desc.emptyChannels = kChannelsTogether - data.view.dims[1];
    const BufferId buffer
        = emitter.program().addBuffer(static_cast<std::size_t>(countOf(dims)) * tensor::sizeOf(padded.dtype));
    kernels::PlanStep step{
        members.empty() ? std::vector<std::string>{emitter.graph().values[node.inputs[0]].name} : members,
        "reorder",
        padded.dtype,
        {},
        kernels::StepKind::Reorder};
    emitter.program().addKernel(std::move(step), padChannels(data.view, padded), {data.buffer, buffer});
    const auto behindIt = [&] { return behindConvolution(emitter, conv); };
    auto done = emitLibraryProduct(emitter, desc, {buffer, weight.buffer, conv.bias, conv.to}, behindIt);
    if (done.ok() || done.error().code != Errc::Unsupported)
        return done;
    HALFTONE_TRY(const Behind behind, behindIt());
    conv.data = {buffer, sliced(padded, 1, 0, data.view.dims[1])};
    conv.weight = {weight.buffer, sliced(weight.view, 1, 0, data.view.dims[1])};
    conv.text.data = conv.data.view;
    ownConvolution(emitter, conv, behind, convolutionText(conv.text, conv.weight.view), "convolution",
                   workOf(desc).flops);
    return {};
}

Result<void> lowerConv(Emitter &emitter, const ops::Conv &op)
{
    if (emitter.padsChannels(emitter.node()))
        return lowerPadded(emitter, op);
    HALFTONE_TRY(ConvNode conv, convNode(emitter, op, Order::ChannelsLast));
    if (auto done = lowerDepthwise(emitter, op, conv))
        return *done;
    HALFTONE_CHECK(readWeight(emitter, op, Order::ChannelsLast, conv));
    const ProductDesc desc = productOf(emitter, conv, conv.text.data, conv.weightView);
    const Operands operands{conv.data.buffer, conv.weight.buffer, conv.bias, conv.to};
    const auto behindIt = [&] { return behindConvolution(emitter, conv); };
    auto done = emitLibraryProduct(emitter, desc, operands, behindIt);
    if (done.ok() || done.error().code != Errc::Unsupported)
        return done;
    HALFTONE_TRY(const Behind behind, behindIt());
    ownConvolution(emitter, conv, behind, convolutionText(conv.text, conv.weightView), "convolution",
                   workOf(desc).flops);
    return {};
}

Result<void> lowerDeconv(Emitter &emitter, const ops::Deconv &op)
{
    if (std::ranges::any_of(op.targetShape, [](std::int64_t extent) { return extent != 0; }))
        return refused("a transposed convolution to a given shape");
    HALFTONE_TRY(ConvNode conv, convNode(emitter, op, Order::Plain));
    HALFTONE_CHECK(readWeight(emitter, op, Order::Plain, conv));
    HALFTONE_TRY(const Behind behind, behindConvolution(emitter, conv));
    // Each value of the data meets each weight of its channel once.
    const double taps = static_cast<double>(countOf(std::span(conv.weightView.dims).subspan(1)));
    ownConvolution(emitter, conv, behind, transposedText(conv.text, conv.weightView),
                   "transposed convolution", 2 * taps * static_cast<double>(countOf(conv.text.data.dims)));
    return {};
}

} // namespace

std::optional<Result<void>> lowerConvolution(Emitter &emitter)
{
    if (const auto *conv = emitter.node().op.getIf<ops::Conv>())
        return lowerConv(emitter, *conv);
    if (const auto *deconv = emitter.node().op.getIf<ops::Deconv>())
        return lowerDeconv(emitter, *deconv);
    return std::nullopt;
}

} // namespace halftone::backends::cuda
