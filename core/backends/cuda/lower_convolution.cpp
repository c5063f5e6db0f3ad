#include "core/backends/cuda/channel_window.h"
#include "core/backends/cuda/library_product.h"
#include "core/backends/cuda/lower.h"
#include "core/backends/cuda/unroll_window.h"

#include <algorithm>

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

/// Operands stand in the result's own axes, products walk those with channels in front.
View seenByConvolution(const ConvNode &conv, const View &view)
{
    const bool isLast
        = conv.text.result.dims != conv.to.view.dims || conv.text.result.strides != conv.to.view.strides;
    return isLast ? channelsFirst(view, ops::Layout::ChannelsLast) : view;
}

ResultAxes axesOf(const ConvNode &conv)
{
    return {[&conv](const View &view) { return std::optional(seenByConvolution(conv, view)); }, 1};
}

Result<Behind> behindConvolution(Emitter &emitter, const ConvNode &conv)
{
    return behindProduct(emitter, conv.bias, conv.text.result, axesOf(conv));
}

void ownConvolution(Emitter &emitter, const ConvNode &conv, const Behind &behind, const std::string &body,
                    std::string label, const Work &work)
{
    std::vector<BufferId> buffers{conv.data.buffer, conv.weight.buffer};
    buffers.insert(buffers.end(), behind.buffers.begin(), behind.buffers.end());
    buffers.push_back(conv.to.buffer);
    const std::vector<DType> types{conv.data.view.dtype, conv.weight.view.dtype};
    emitter.launchProduct(perElement(types, conv.text.result, body, behind.text, std::move(label)),
                          std::move(buffers), work);
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
    emitter.launchProduct(std::move(*kernel), std::move(buffers), workOf(desc));
    return Result<void>();
}

/// The weight, a constant (O, I, kernel…), within a larger tensor of zeros, `dims` of them seen by `to`.
Place paddedWeight(Emitter &emitter, ValueId value, const View &to, std::int64_t elements)
{
    const tensor::Tensor &weight = *emitter.graph().values[value].constant;
    const View from = viewOf(emitter.graph().desc(value));
    auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(elements)
                                                          * tensor::sizeOf(from.dtype));
    copyElements(from, weight.bytes(), to, *bytes);
    return Place{emitter.program().addConstant(*bytes, bytes), to};
}

kernels::PlanStep rearranging(Emitter &emitter, tensor::DType type, const std::vector<std::string> &members)
{
    const ValueId data = emitter.node().inputs[0];
    return {members.empty() ? std::vector<std::string>{emitter.graph().values[data].name} : members,
            "reorder",
            type,
            {},
            kernels::StepKind::Reorder};
}

/// A convolution as a product of matrices.
struct Unrolled
{
    LibraryProduct product;
    KernelText kernel; ///< what makes its first matrix
    View matrix;
};

/// The same as a product of matrices (unroll_window.h), where that may be quicker than `known`, and is as measured: engines for
/// convolutions are made for many channels, and for tensor cores.
/// data  as `conv` has it, or of another type of float
std::optional<Unrolled> unrolled(Emitter &emitter, const ConvNode &conv, const View &data,
                                 std::optional<double> known)
{
    constexpr double kMostBytes = 1 << 30;
    constexpr double kLeast = 2; // microseconds, of any product
    const ValueId value = emitter.node().inputs[1];
    const tensor::DType type = conv.text.result.dtype;
    const std::int64_t taps = countOf(conv.text.window.kernel);
    if (!known || conv.text.groups != 1 || conv.text.window.rank() != 2 || taps == 1
        || !emitter.graph().isConstant(value) || emitter.graph().desc(value).dtype != type
        || emitter.graph().desc(value).shape[1] != data.dims[1])
        return std::nullopt;
    const std::int64_t unit = 16 / static_cast<std::int64_t>(tensor::sizeOf(type));
    const std::int64_t outputs = conv.text.result.dims[1];
    const std::int64_t columns = (taps * data.dims[1] + unit - 1) / unit * unit;
    const std::int64_t rows = countOf(conv.text.result.dims) / outputs;
    const View matrix = viewOf({type, {rows, columns}});
    const double bytes
        = static_cast<double>(countOf(matrix.dims)) * static_cast<double>(tensor::sizeOf(type));
    Gpu &gpu = emitter.program().gpu();
    const double moving = movingTime(gpu, 1.5 * bytes); // written, and read by all that share it
    if (bytes > kMostBytes || *known < moving + kLeast)
        return std::nullopt;
    const auto asRows = [](const View &view, std::int64_t width) -> std::optional<View> {
        const std::vector<std::size_t> last{0, 2, 3, 1};
        return reshaped(permuted(view, last), Dims{countOf(view.dims) / width, width});
    };
    const auto result = asRows(conv.text.result, outputs);
    if (!result)
        return std::nullopt;
    View weights = viewOf(emitter.graph().desc(value)); // taps, and the channels of each, side by side
    weights.strides = {columns, 1, conv.text.window.kernel[1] * data.dims[1], data.dims[1]};
    const bool isThere = conv.weight.view == weights; // where no zeros stand behind the channels
    const Place weight = isThere ? conv.weight : paddedWeight(emitter, value, weights, outputs * columns);
    ProductDesc desc{.a = matrix, .b = {type, {columns, outputs}, {1, columns}, 0}, .c = *result};
    desc.allowsTf32 = emitter.options().allowsTf32;
    const ResultAxes axes{[&](const View &view) { return asRows(seenByConvolution(conv, view), outputs); },
                          1};
    auto product = LibraryProduct::prepare(emitter, desc, {0, weight.buffer, conv.bias, conv.to}, axes);
    if (!product.ok() || !product.value().microseconds()
        || *product.value().microseconds() + moving >= *known)
        return std::nullopt;
    SpatialText text = conv.text;
    text.data = data;
    return Unrolled{std::move(product).value(), unrolledWindow(text, matrix), matrix};
}

void emitUnrolled(Emitter &emitter, Unrolled unrolled, BufferId data, const Work &work,
                  const std::vector<std::string> &members)
{
    const BufferId matrix = emitter.program().addBuffer(
        static_cast<std::size_t>(countOf(unrolled.matrix.dims)) * tensor::sizeOf(unrolled.matrix.dtype));
    emitter.program().addKernel(rearranging(emitter, unrolled.matrix.dtype, members),
                                std::move(unrolled.kernel), {data, matrix});
    unrolled.product.setWork(work);
    std::move(unrolled.product).emit(emitter, matrix);
}

/// The first convolution of a network over pictures: with as many channels as tensor cores take at once, those behind the data's own
/// being 0, or as a product of matrices.
Result<void> lowerPadded(Emitter &emitter, const ops::Conv &op)
{
    const PlanNode &node = emitter.node();
    std::vector<std::string> members;
    HALFTONE_TRY(const Place data, emitter.readNarrow(node.inputs[0], members));
    ConvNode conv;
    HALFTONE_TRY(conv.text.window, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    if (op.hasBias)
        conv.bias = node.inputs[2];
    conv.to = emitter.write(node.outputs[0], Order::ChannelsLast);
    conv.text.result = conv.to.view;
    const tensor::DType type = emitter.graph().desc(node.inputs[0]).dtype;
    const auto padded = [&](Dims dims) {
        dims[1] = kChannelsTogether;
        return viewOf({type, tensor::Shape(std::move(dims))}, Order::ChannelsLast);
    };
    const std::int64_t channels = data.view.dims[1];
    const View full = padded(data.view.dims);
    const View fullWeight = padded(viewOf(emitter.graph().desc(node.inputs[1])).dims);
    ProductDesc desc = productOf(emitter, conv, full, fullWeight);
    desc.emptyChannels = kChannelsTogether - channels;
    const Place weight
        = paddedWeight(emitter, node.inputs[1], sliced(fullWeight, 1, 0, channels), countOf(fullWeight.dims));
    Result<LibraryProduct> product
        = LibraryProduct::prepare(emitter, desc, {0, weight.buffer, conv.bias, conv.to}, axesOf(conv));
    if (!product.ok() && product.error().code != Errc::Unsupported)
        return product.error();
    const std::size_t bytes = static_cast<std::size_t>(countOf(full.dims)) * tensor::sizeOf(type);
    if (product.ok() && product.value().microseconds()) {
        const double known = *product.value().microseconds()
            + movingTime(emitter.program().gpu(), 2 * static_cast<double>(bytes));
        if (auto matrices = unrolled(emitter, conv, data.view, known)) {
            emitUnrolled(emitter, std::move(*matrices), data.buffer, workOf(desc), members);
            return {};
        }
    }
    const BufferId buffer = emitter.program().addBuffer(bytes);
    emitter.program().addKernel(rearranging(emitter, type, members), padChannels(data.view, full),
                                {data.buffer, buffer});
    if (product.ok()) {
        std::move(product).value().emit(emitter, buffer);
        return {};
    }
    HALFTONE_TRY(const Behind behind, behindConvolution(emitter, conv));
    conv.data = {buffer, sliced(full, 1, 0, channels)};
    conv.weight = weight;
    conv.text.data = conv.data.view;
    ownConvolution(emitter, conv, behind, convolutionText(conv.text, conv.weight.view), "convolution",
                   workOf(desc));
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
    Result<LibraryProduct> product = LibraryProduct::prepare(
        emitter, desc, {conv.data.buffer, conv.weight.buffer, conv.bias, conv.to}, axesOf(conv));
    if (product.ok()) {
        const bool isFirst
            = op.layout == ops::Layout::ChannelsFirst; // unrolled() knows weights of that layout
        auto matrices = isFirst ? unrolled(emitter, conv, conv.text.data, product.value().microseconds())
                                : std::nullopt;
        if (matrices)
            emitUnrolled(emitter, std::move(*matrices), conv.data.buffer, workOf(desc), {});
        else
            std::move(product).value().emit(emitter);
        return {};
    }
    if (product.error().code != Errc::Unsupported)
        return product.error();
    HALFTONE_TRY(const Behind behind, behindConvolution(emitter, conv));
    ownConvolution(emitter, conv, behind, convolutionText(conv.text, conv.weightView), "convolution",
                   workOf(desc));
    return {};
}

Result<void> lowerConvTranspose(Emitter &emitter, const ops::ConvTranspose &op)
{
    if (std::ranges::any_of(op.targetShape, [](std::int64_t extent) { return extent != 0; }))
        return refused("a transposed convolution to a given shape");
    HALFTONE_TRY(ConvNode conv, convNode(emitter, op, Order::Plain));
    HALFTONE_CHECK(readWeight(emitter, op, Order::Plain, conv));
    HALFTONE_TRY(const Behind behind, behindConvolution(emitter, conv));
    // Each value of the data meets each weight of its channel once.
    const double taps = static_cast<double>(countOf(std::span(conv.weightView.dims).subspan(1)));
    ownConvolution(emitter, conv, behind, transposedText(conv.text, conv.weightView),
                   "transposed convolution",
                   {2 * taps * static_cast<double>(countOf(conv.text.data.dims)), 0});
    return {};
}

} // namespace

std::optional<Result<void>> lowerConvolution(Emitter &emitter)
{
    if (const auto *conv = emitter.node().op.getIf<ops::Conv>())
        return lowerConv(emitter, *conv);
    if (const auto *deconv = emitter.node().op.getIf<ops::ConvTranspose>())
        return lowerConvTranspose(emitter, *deconv);
    return std::nullopt;
}

} // namespace halftone::backends::cuda
