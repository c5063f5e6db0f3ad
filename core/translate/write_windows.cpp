#include "core/ops/window.h"
#include "core/translate/layer_nodes.h"
#include "core/translate/writers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace halftone::translate {
namespace {

using ops::Dims;

/// The places of the axes when the channels, last of `rank`, come to axis 1; and the way back.
Dims channelsToFront(std::size_t rank)
{
    Dims axes{0, static_cast<std::int64_t>(rank) - 1};
    for (std::size_t k = 1; k + 1 < rank; ++k)
        axes.push_back(static_cast<std::int64_t>(k));
    return axes;
}

Dims channelsToBack(std::size_t rank)
{
    Dims axes{0};
    for (std::size_t k = 2; k < rank; ++k)
        axes.push_back(static_cast<std::int64_t>(k));
    axes.push_back(1);
    return axes;
}

Value channelsFirst(NodeWriter &to, const Value &value, ops::Layout layout, std::size_t rank)
{
    return layout == ops::Layout::ChannelsFirst
        ? value
        : to.add("Transpose", {value}, {{"perm", text(channelsToFront(rank))}});
}

Value inLayout(NodeWriter &to, const Value &value, ops::Layout layout, std::size_t rank)
{
    return layout == ops::Layout::ChannelsFirst
        ? value
        : to.add("Transpose", {value}, {{"perm", text(channelsToBack(rank))}});
}

Dims padsOf(const ops::Window &window)
{
    Dims pads = window.padBegin;
    pads.insert(pads.end(), window.padEnd.begin(), window.padEnd.end());
    return pads;
}

graph::Attributes windowAttributes(const ops::Window &window, const Dims &pads)
{
    graph::Attributes attributes{{"kernel_shape", text(window.kernel)}, {"strides", text(window.stride)}};
    if (std::ranges::any_of(window.dilate, [](std::int64_t step) { return step != 1; }))
        attributes.set("dilations", text(window.dilate));
    if (std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; }))
        attributes.set("pads", text(pads));
    return attributes;
}

Result<void> writeConv(NodeWriter &to, const ops::Conv &op)
{
    HALFTONE_TRY(const Value value, convolved(to, op, {to.in(), to.in(1), op.hasBias ? to.in(2) : kNone}));
    to.set(value);
    return {};
}

/// Of a transposed convolution with a target shape: what is cut, and what is added at the end of it.
Result<void> meetTarget(NodeWriter &to, const ops::ConvTranspose &op, ops::Window &window, Dims &outputPad)
{
    const std::size_t first = ops::firstSpatialAxis(op.layout);
    outputPad.assign(window.rank(), 0);
    for (std::size_t k = 0; k < window.rank(); ++k) {
        if (!to.shape(0).hasRank() || to.shape(0)[first + k] < 0)
            return to.unknownShape();
        const std::int64_t full
            = window.stride[k] * (to.shape(0)[first + k] - 1) + window.dilate[k] * (window.kernel[k] - 1) + 1;
        const std::int64_t excess = full - op.targetShape[k];
        window.padBegin[k] = (excess + 1) / 2;
        window.padEnd[k] = window.padBegin[k];
        outputPad[k] = 2 * window.padBegin[k] - excess;
    }
    return {};
}

Result<void> writeConvTranspose(NodeWriter &to, const ops::ConvTranspose &op)
{
    HALFTONE_TRY(ops::Window window, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    const std::size_t rank = window.rank() + 2;
    Dims outputPad = op.outputPad;
    if (std::ranges::any_of(op.targetShape, [](std::int64_t extent) { return extent != 0; }))
        HALFTONE_CHECK(meetTarget(to, op, window, outputPad));
    graph::Attributes attributes = windowAttributes(window, padsOf(window));
    if (op.groups != 1)
        attributes.set("group", text(op.groups));
    if (std::ranges::any_of(outputPad, [](std::int64_t pad) { return pad != 0; }))
        attributes.set("output_padding", text(outputPad));
    Values inputs{channelsFirst(to, to.in(), op.layout, rank), channelsFirst(to, to.in(1), op.layout, rank)};
    if (op.hasBias)
        inputs.push_back(to.in(2));
    to.set(inLayout(to, to.add("ConvTranspose", inputs, std::move(attributes)), op.layout, rank));
    return {};
}

/// What the windows of a pooling reach over beyond data and padding: the same output extents come of it without rounding up.
struct Reach
{
    Dims extra; ///< by spatial axis
    bool isCeiled = false; ///< extents are not known, and ONNX's own rounding up is the same
};

Result<Reach> reachOf(NodeWriter &to, const ops::Pool &op, const ops::Window &window)
{
    Reach reach{Dims(window.rank(), 0)};
    if (op.rounding == ops::Pool::Rounding::Valid)
        return reach;
    const std::size_t first = ops::firstSpatialAxis(op.layout);
    for (std::size_t k = 0; k < window.rank(); ++k) {
        const bool isKnown = to.shape(0).hasRank() && to.shape(0)[first + k] >= 0 && to.outShape().hasRank()
            && to.outShape()[first + k] >= 0;
        if (isKnown) {
            reach.extra[k] = std::max<std::int64_t>(
                0,
                (to.outShape()[first + k] - 1) * window.stride[k] + window.dilate[k] * (window.kernel[k] - 1)
                    + 1 - (to.shape(0)[first + k] + window.padBegin[k] + window.padEnd[k]));
            continue;
        }
        // Rounding up makes no window that begins behind the data in ONNX.
        const bool beginsInside
            = op.windowsBeginInside || window.stride[k] + window.padEnd[k] <= window.kernel[k];
        if (op.rounding != ops::Pool::Rounding::Full || !beginsInside)
            return to.unknownShape();
        reach.isCeiled = true;
    }
    return reach;
}

/// Zeros, or what never is a maximum, around the spatial axes.
Value padded(NodeWriter &to, const Value &value, const Dims &begin, const Dims &end, double with)
{
    Dims pads(2, 0);
    pads.insert(pads.end(), begin.begin(), begin.end());
    pads.insert(pads.end(), 2, 0);
    pads.insert(pads.end(), end.begin(), end.end());
    return to.add("Pad", {value, to.integers("pads", pads), to.number("outside", with, to.realType(0))});
}

Dims sum(const Dims &a, const Dims &b)
{
    Dims result(a.size());
    std::ranges::transform(a, b, result.begin(), std::plus());
    return result;
}

bool isZero(const Dims &values)
{
    return std::ranges::all_of(values, [](std::int64_t value) { return value == 0; });
}

Result<Value> maximumPool(NodeWriter &to, const ops::Pool &op, ops::Window window, const Reach &reach,
                          Value data)
{
    if (op.padsZeros && !isZero(padsOf(window))) {
        data = padded(to, data, window.padBegin, window.padEnd, 0);
        window.padBegin.assign(window.rank(), 0);
        window.padEnd = window.padBegin;
    }
    window.padEnd = sum(window.padEnd, reach.extra);
    // Runtimes take no padding as wide as the kernel.
    const auto isWide
        = [&](const Dims &pads) { return !std::ranges::equal(pads, window.kernel, std::ranges::less()); };
    if (isWide(window.padBegin) || isWide(window.padEnd)) {
        data = padded(to, data, window.padBegin, window.padEnd, -std::numeric_limits<double>::infinity());
        window.padBegin.assign(window.rank(), 0);
        window.padEnd = window.padBegin;
    }
    graph::Attributes attributes = windowAttributes(window, padsOf(window));
    if (reach.isCeiled)
        attributes.set("ceil_mode", "1");
    return to.add("MaxPool", {data}, std::move(attributes));
}

/// Does some window see padding alone?
bool isOutside(const ops::Window &window, const Reach &reach)
{
    for (std::size_t k = 0; k < window.rank(); ++k)
        if (window.padEnd[k] + reach.extra[k] >= window.dilate[k] * (window.kernel[k] - 1) + 1)
            return true;
    return false;
}

/// Padding that counts is written as zeros around the data, so that what lies beyond it can be left out of the divisor.
Result<Value> averagePool(NodeWriter &to, const ops::Pool &op, ops::Window window, const Reach &reach,
                          Value data)
{
    if (isOutside(window, reach))
        return to.refuse("has windows that lie outside the data");
    const bool isSum = op.kind == ops::Pool::Kind::Sum;
    bool countsAll = isSum || op.padsZeros;
    if (reach.isCeiled && (countsAll || (op.countPadding && !isZero(padsOf(window)))))
        return to.unknownShape();
    if (countsAll && !isZero(reach.extra)) {
        window.padEnd = sum(window.padEnd, reach.extra);
    } else if (!isZero(reach.extra)) {
        if (op.countPadding && !isZero(padsOf(window))) {
            data = padded(to, data, window.padBegin, window.padEnd, 0);
            window.padBegin.assign(window.rank(), 0);
            window.padEnd = window.padBegin;
        }
        window.padEnd = sum(window.padEnd, reach.extra);
    } else {
        countsAll = countsAll || op.countPadding;
    }
    const bool hasPads = !isZero(padsOf(window));
    graph::Attributes attributes = windowAttributes(window, padsOf(window));
    if (countsAll && hasPads)
        attributes.set("count_include_pad", "1");
    if (reach.isCeiled)
        attributes.set("ceil_mode", "1");
    const Value mean = to.add("AveragePool", {data}, std::move(attributes));
    if (!isSum)
        return mean;
    const std::int64_t taps
        = std::accumulate(window.kernel.begin(), window.kernel.end(), std::int64_t{1}, std::multiplies());
    return to.add("Mul", {mean, to.number("taps", static_cast<double>(taps), to.realType(0))});
}

Result<Value> globalPool(NodeWriter &to, const ops::Pool &op, const Value &data, std::size_t rank)
{
    using Kind = ops::Pool::Kind;
    switch (op.kind) {
    case Kind::Max:
        return to.add("GlobalMaxPool", {data});
    case Kind::Average:
        return to.add("GlobalAveragePool", {data});
    case Kind::Lp:
        return to.add("GlobalLpPool", {data}, {{"p", text(op.p.value_or(2))}});
    case Kind::Sum:
        break;
    }
    Dims axes(rank - 2);
    std::iota(axes.begin(), axes.end(), 2);
    return to.add("ReduceSum", {data, to.integers("axes", axes)});
}

Result<Value> windowedPool(NodeWriter &to, const ops::Pool &op, const Value &data)
{
    HALFTONE_TRY(ops::Window window, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    HALFTONE_TRY(const Reach reach, reachOf(to, op, window));
    switch (op.kind) {
    case ops::Pool::Kind::Max:
        return maximumPool(to, op, std::move(window), reach, data);
    case ops::Pool::Kind::Average:
    case ops::Pool::Kind::Sum:
        return averagePool(to, op, std::move(window), reach, data);
    case ops::Pool::Kind::Lp:
        break;
    }
    if (op.p.value_or(2) % 2 != 0)
        return to.refuse("sums odd powers with their signs");
    if (reach.isCeiled)
        return to.unknownShape();
    if (isOutside(window, reach))
        return to.refuse("has windows that lie outside the data");
    window.padEnd = sum(window.padEnd, reach.extra);
    graph::Attributes attributes = windowAttributes(window, padsOf(window));
    attributes.set("p", text(op.p.value_or(2)));
    return to.add("LpPool", {data}, std::move(attributes));
}

Result<void> writePool(NodeWriter &to, const ops::Pool &op)
{
    HALFTONE_TRY(const Value value, pooled(to, op, to.in()));
    to.set(value);
    return {};
}

/// Of one place: everything. Other sizes divide the extents, so that all windows are of one size.
Result<void> writeAdaptivePool(NodeWriter &to, const ops::AdaptiveAveragePool &op)
{
    const Dims size = op.outputSize.empty() ? Dims{1, 1}
        : op.outputSize.size() == 1         ? Dims{op.outputSize[0], op.outputSize[0]}
                                            : op.outputSize;
    if (size == Dims{1, 1}) {
        to.set(to.add("GlobalAveragePool", {to.in()}));
        return {};
    }
    Dims window;
    for (std::size_t k = 0; k < 2; ++k) {
        const std::int64_t extent = to.shape(0).rank() == 4 ? to.shape(0)[k + 2] : -1;
        if (extent < 0)
            return to.unknownShape();
        if (size[k] < 1 || extent % size[k] != 0)
            return to.refuse("averages over windows of different sizes");
        window.push_back(extent / size[k]);
    }
    to.set(to.add("AveragePool", {to.in()}, {{"kernel_shape", text(window)}, {"strides", text(window)}}));
    return {};
}

/// A row of pixels as often as the scale says.
Result<void> writeUpsample(NodeWriter &to, const ops::Upsample &op)
{
    if (op.kind == ops::Upsample::Kind::Bilinear) {
        const std::int64_t kernel = 2 * op.scale - op.scale % 2;
        const std::int64_t pad = op.scale / 2;
        to.set(to.add("ConvTranspose", to.inputs(),
                      {{"kernel_shape", text(Dims{kernel, kernel})},
                       {"strides", text(Dims{op.scale, op.scale})},
                       {"pads", text(Dims{pad, pad, pad, pad})},
                       {"group", text(op.filters)}}));
        return {};
    }
    if (op.inputs != 1)
        return to.refuse("resizes several tensors to one size");
    const auto scale = static_cast<float>(op.scale);
    to.set(to.add(
        "Resize", {to.in(), kNone, to.floats("scales", {1, 1, scale, scale}, tensor::Shape{4})},
        {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}));
    return {};
}

Result<void> writeBilinearResize(NodeWriter &to, const ops::BilinearResize &op)
{
    const graph::Attributes attributes{
        {"mode", "linear"},
        {"coordinate_transformation_mode", op.alignCorners ? "align_corners" : "pytorch_half_pixel"}};
    const Value all = to.add("Shape", {to.in()}, {{"end", "2"}});
    Value size = kNone;
    if (op.target == ops::BilinearResize::Target::Like) {
        size = to.add("Shape", {to.in(1)}, {{"start", "2"}, {"end", "4"}});
    } else if (const tensor::Shape &out = to.outShape(); out.rank() == 4 && out[2] > 0 && out[3] > 0) {
        size = to.integers("size", {out[2], out[3]});
    } else {
        return to.unknownShape();
    }
    const Value sizes = to.add("Concat", {all, size}, {{"axis", "0"}});
    to.set(to.add("Resize", {to.in(), kNone, kNone, sizes}, attributes));
    return {};
}

/// A part of height and width as large as that of the second input.
Result<void> writeCrop(NodeWriter &to, const ops::Crop &op)
{
    Dims begin = op.offset.size() == 2 ? op.offset : Dims{0, 0};
    const tensor::Shape &out = to.outShape();
    const bool isKnown = out.rank() == 4 && out[2] >= 0 && out[3] >= 0;
    if (op.center) {
        const tensor::Shape &shape = to.shape(0);
        if (!isKnown || shape.rank() != 4 || shape[2] < 0 || shape[3] < 0)
            return to.unknownShape();
        begin = {(shape[2] - out[2]) / 2, (shape[3] - out[3]) / 2};
    }
    const Value starts = to.integers("starts", begin);
    Value ends = kNone;
    if (isKnown) {
        ends = to.integers("ends", {begin[0] + out[2], begin[1] + out[3]});
    } else if (to.inputCount() == 2) {
        ends = to.add("Add", {to.add("Shape", {to.in(1)}, {{"start", "2"}, {"end", "4"}}), starts});
    } else if (op.size.size() == 2) {
        ends = to.integers("ends", {begin[0] + op.size[0], begin[1] + op.size[1]});
    } else {
        return to.unknownShape();
    }
    to.set(to.add("Slice", {to.in(), starts, ends, to.integers("axes", {2, 3})}));
    return {};
}

Result<void> writeCol2Im(NodeWriter &to, const ops::Col2Im &op)
{
    const ops::Unfold &unfold = op.window;
    HALFTONE_TRY(
        const ops::Window window,
        ops::makeWindow(unfold.kernel, unfold.stride, unfold.dilate, unfold.pad, unfold.kernel.size()));
    to.set(to.add(
        "Col2Im",
        {to.in(), to.integers("image_shape", op.imageShape), to.integers("block_shape", window.kernel)},
        {{"strides", text(window.stride)},
         {"dilations", text(window.dilate)},
         {"pads", text(padsOf(window))}}));
    return {};
}

/// Neighbours with weight 0 and places that are not numbers give other values in ONNX where the data or the grid has infinities or NaN.
Result<void> writeGridSample(NodeWriter &to, const ops::GridSample &op)
{
    if (op.mode != ops::GridSample::Mode::Linear || op.outside != ops::GridSample::Outside::Zeros)
        return to.refuse("samples other than linearly or beyond the edge");
    const Value grid = op.axesFirst ? to.add("Transpose", {to.in(1)}, {{"perm", "[0,2,3,1]"}}) : to.in(1);
    to.set(to.add("GridSample", {to.in(), grid}, {{"align_corners", text(std::int64_t{op.alignCorners})}}));
    return {};
}

} // namespace

Result<Value> convolved(NodeWriter &to, const ops::Conv &op, const Values &inputs)
{
    HALFTONE_TRY(const ops::Window window, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    const std::size_t rank = window.rank() + 2;
    graph::Attributes attributes = windowAttributes(window, padsOf(window));
    if (op.groups != 1)
        attributes.set("group", text(op.groups));
    const Value data = channelsFirst(to, inputs[0], op.layout, rank);
    const Value weight = channelsFirst(to, inputs[1], op.layout, rank);
    return inLayout(to, to.add("Conv", {data, weight, inputs[2]}, std::move(attributes)), op.layout, rank);
}

Result<Value> pooled(NodeWriter &to, const ops::Pool &op, const Value &data)
{
    HALFTONE_TRY(const std::size_t rank, to.rank());
    const Value first = channelsFirst(to, data, op.layout, rank);
    HALFTONE_TRY(const Value value,
                 op.global ? globalPool(to, op, first, rank) : windowedPool(to, op, first));
    return inLayout(to, value, op.layout, rank);
}

std::span<const WriterRow> windowWriters()
{
    static constexpr std::array kRows{
        writes<ops::Conv, writeConv>(),
        writes<ops::ConvTranspose, writeConvTranspose>(),
        writes<ops::Pool, writePool>(),
        writes<ops::AdaptiveAveragePool, writeAdaptivePool>(),
        writes<ops::Upsample, writeUpsample>(),
        writes<ops::BilinearResize, writeBilinearResize>(),
        writes<ops::Crop, writeCrop>(),
        writes<ops::Col2Im, writeCol2Im>(),
        writes<ops::GridSample, writeGridSample>(),
    };
    return kRows;
}

} // namespace halftone::translate
