#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/gather.h"
#include "core/backends/reference/kernels.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace halftone::backends::reference {
namespace {

constexpr std::array<std::byte, 8> kZero{};

Result<void> gatherInto(const AxisTables &tables, const RawArrays &arrays)
{
    gather(tables, arrays.elementSize(), arrays.in[0], kZero.data(), arrays.out[0]);
    return {};
}

/// The order of elements stays: a plain copy.
Result<void> copy(const RawArrays &arrays)
{
    const std::size_t bytes = arrays.outCount(0) * arrays.elementSize();
    if (bytes > 0)
        std::memcpy(arrays.out[0], arrays.in[0], bytes);
    return {};
}

/// The last axes of the result are the source's; further ones in front repeat it.
AxisTables stretched(DimSpan in, DimSpan out)
{
    const std::vector<std::int64_t> strides = stretchedStrides(in, out);
    AxisTables tables;
    for (std::size_t axis = 0; axis < out.size(); ++axis)
        tables.push_back(evenTable(out[axis], strides[axis]));
    return tables;
}

Result<void> permute(const std::vector<std::size_t> &order, const RawArrays &arrays)
{
    const std::vector<std::int64_t> strides = denseStrides(arrays.inDims(0));
    AxisTables tables;
    for (const std::size_t axis : order)
        tables.push_back(evenTable(arrays.inDims(0)[axis], strides[axis]));
    return gatherInto(tables, arrays);
}

/// Cuts a box out: of axis a, `first[a]`, `first[a] + step[a]`, … as many as the result is long.
Result<void> cut(const std::vector<std::int64_t> &first, const std::vector<std::int64_t> &step,
                 const RawArrays &arrays)
{
    const std::vector<std::int64_t> strides = denseStrides(arrays.inDims(0));
    AxisTables tables;
    for (std::size_t axis = 0; axis < strides.size(); ++axis) {
        std::vector<std::int64_t> table(static_cast<std::size_t>(arrays.outDims(0)[axis]));
        for (std::size_t i = 0; i < table.size(); ++i)
            table[i] = (first[axis] + static_cast<std::int64_t>(i) * step[axis]) * strides[axis];
        tables.push_back(std::move(table));
    }
    return gatherInto(tables, arrays);
}

} // namespace

Result<void> move(const ops::Reshape &, const RawArrays &arrays)
{
    return copy(arrays);
}
Result<void> move(const ops::Flatten &, const RawArrays &arrays)
{
    return copy(arrays);
}
Result<void> move(const ops::Unsqueeze &, const RawArrays &arrays)
{
    return copy(arrays);
}
Result<void> move(const ops::Squeeze &, const RawArrays &arrays)
{
    return copy(arrays);
}
Result<void> move(const ops::ReshapeLike &, const RawArrays &arrays)
{
    return copy(arrays);
}
Result<void> move(const ops::LossOutput &, const RawArrays &arrays)
{
    return copy(arrays);
}

Result<void> move(const ops::Dropout &, const RawArrays &arrays)
{
    if (arrays.out.size() > 1 && arrays.out[1]) { // the mask lets everything through
        const std::vector<float> ones(arrays.outCount(1), 1.0F);
        tensor::narrow(ones.data(), ones.size(), arrays.operation.outputs[1].dtype, arrays.out[1]);
    }
    return copy(arrays);
}

Result<void> move(const ops::Cast &op, const RawArrays &arrays)
{
    const tensor::DType to = arrays.operation.outputs[0].dtype;
    if (!op.saturates || !tensor::isForAnalysis(to)) {
        tensor::convert(arrays.operation.inputs[0].dtype, arrays.in[0], arrays.outCount(0), to,
                        arrays.out[0]);
        return {};
    }
    std::vector<double> values(arrays.outCount(0));
    tensor::widen(arrays.operation.inputs[0].dtype, arrays.in[0], values.size(), values.data());
    for (double &value : values)
        value = tensor::saturated(to, value);
    tensor::narrow(values.data(), values.size(), to, arrays.out[0]);
    return {};
}

Result<void> move(const ops::MultiCast &, const RawArrays &arrays)
{
    for (std::size_t i = 0; i < arrays.out.size(); ++i) {
        if (arrays.out[i])
            tensor::convert(arrays.operation.inputs[i].dtype, arrays.in[i], arrays.outCount(i),
                            arrays.operation.outputs[i].dtype, arrays.out[i]);
    }
    return {};
}

Result<void> move(const ops::Transpose &op, const RawArrays &arrays)
{
    std::vector<std::size_t> order(arrays.inDims(0).size());
    if (op.axes.empty())
        std::iota(order.rbegin(), order.rend(), std::size_t{0});
    else
        std::ranges::transform(op.axes, order.begin(),
                               [&](std::int64_t axis) { return fromFront(axis, order.size()); });
    return permute(order, arrays);
}

Result<void> move(const ops::SwapAxes &op, const RawArrays &arrays)
{
    std::vector<std::size_t> order(arrays.inDims(0).size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::swap(order[fromFront(op.first, order.size())], order[fromFront(op.second, order.size())]);
    return permute(order, arrays);
}

Result<void> move(const ops::Slice &op, const RawArrays &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const std::vector<std::int64_t> strides = denseStrides(in);
    AxisTables tables = identityTables(in);
    for (std::size_t i = 0; i < op.begin.size(); ++i) {
        const std::size_t axis = op.axes ? fromFront((*op.axes)[i], in.size()) : i;
        const std::int64_t step = op.step.empty() ? 1 : op.step[i].value_or(1);
        const std::int64_t last = std::max<std::int64_t>(in[axis] - 1, 0);
        const std::int64_t begin = op.begin[i].value_or(step > 0 ? 0 : last);
        std::int64_t at = std::clamp<std::int64_t>(begin < 0 ? begin + in[axis] : begin, 0, last);
        tables[axis].resize(static_cast<std::size_t>(arrays.outDims(0)[axis]));
        for (std::size_t k = 0; k < tables[axis].size(); ++k) {
            tables[axis][k] = at * strides[axis];
            at = k + 1 < tables[axis].size() ? at + step : at; // the last step might leave the numbers
        }
    }
    return gatherInto(tables, arrays);
}

Result<void> move(const ops::SliceLike &, const RawArrays &arrays)
{
    const std::size_t rank = arrays.inDims(0).size();
    return cut(std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 1), arrays);
}

Result<void> move(const ops::Crop &op, const RawArrays &arrays)
{
    std::vector<std::int64_t> first(4, 0);
    for (const std::size_t i : {0, 1})
        first[2 + i] = op.center ? (arrays.inDims(0)[2 + i] - arrays.outDims(0)[2 + i]) / 2 : op.offset[i];
    return cut(first, std::vector<std::int64_t>(4, 1), arrays);
}

Result<void> move(const ops::Reverse &op, const RawArrays &arrays)
{
    AxisTables tables = identityTables(arrays.inDims(0));
    for (const std::int64_t axis : op.axes)
        std::ranges::reverse(tables[fromFront(axis, tables.size())]);
    return gatherInto(tables, arrays);
}

Result<void> move(const ops::Expand &, const RawArrays &arrays)
{
    return gatherInto(stretched(arrays.inDims(0), arrays.outDims(0)), arrays);
}
Result<void> move(const ops::BroadcastAxes &, const RawArrays &arrays)
{
    return gatherInto(stretched(arrays.inDims(0), arrays.outDims(0)), arrays);
}
Result<void> move(const ops::BroadcastLike &, const RawArrays &arrays)
{
    return gatherInto(stretched(arrays.inDims(0), arrays.outDims(0)), arrays);
}

Result<void> move(const ops::Tile &, const RawArrays &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::vector<std::int64_t> strides = denseStrides(in);
    AxisTables tables;
    for (std::size_t axis = 0; axis < out.size(); ++axis) {
        std::vector<std::int64_t> table(static_cast<std::size_t>(out[axis]), 0);
        const std::size_t missing = out.size() - in.size();
        for (std::size_t i = 0; axis >= missing && i < table.size(); ++i)
            table[i] = static_cast<std::int64_t>(i) % in[axis - missing] * strides[axis - missing];
        tables.push_back(std::move(table));
    }
    return gatherInto(tables, arrays);
}

Result<void> move(const ops::Repeat &op, const RawArrays &arrays)
{
    AxisTables tables = op.axis ? identityTables(arrays.inDims(0))
                                : AxisTables{evenTable(static_cast<std::int64_t>(arrays.inCount(0)), 1)};
    std::vector<std::int64_t> &table = tables[op.axis ? fromFront(*op.axis, tables.size()) : 0];
    std::vector<std::int64_t> longer;
    for (const std::int64_t offset : table)
        longer.insert(longer.end(), static_cast<std::size_t>(op.repeats), offset);
    table = std::move(longer);
    return gatherInto(tables, arrays);
}

Result<void> move(const ops::Pad &op, const RawArrays &arrays)
{
    using Mode = ops::Pad::Mode;
    const DimSpan in = arrays.inDims(0);
    const std::vector<std::int64_t> strides = denseStrides(in);
    AxisTables tables;
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
        std::vector<std::int64_t> table(static_cast<std::size_t>(arrays.outDims(0)[axis]));
        for (std::size_t i = 0; i < table.size(); ++i) {
            const std::int64_t place = static_cast<std::int64_t>(i) - op.widths[2 * axis];
            const std::int64_t last = in[axis] - 1;
            const std::int64_t mirrored = place < 0 ? -place : place > last ? 2 * last - place : place;
            const bool outside = place < 0 || place > last;
            const std::int64_t from = op.mode == Mode::Reflect ? mirrored
                : op.mode == Mode::Wrap && last >= 0
                ? (place % in[axis] + in[axis]) % in[axis]
                : std::clamp<std::int64_t>(place, 0, std::max<std::int64_t>(last, 0));
            table[i] = last < 0 || (outside && op.mode == Mode::Constant) ? kOutside : from * strides[axis];
        }
        tables.push_back(std::move(table));
    }
    std::array<std::byte, 8> fill{};
    tensor::narrow(&op.value, 1, arrays.operation.outputs[0].dtype, fill.data());
    gather(tables, arrays.elementSize(), arrays.in[0], fill.data(), arrays.out[0]);
    return {};
}

Result<void> move(const ops::DepthToSpace &op, const RawArrays &arrays)
{
    // (n, block, block, c, h, w) read in the order n, c, h, block, w, block; depth first it is (n, c, block, block, h, w).
    const DimSpan in = arrays.inDims(0);
    const std::int64_t channels = arrays.outDims(0)[1];
    const std::int64_t plane = in[2] * in[3];
    if (op.depthFirst)
        return gatherInto({evenTable(in[0], in[1] * plane), evenTable(channels, op.block * op.block * plane),
                           evenTable(in[2], in[3]), evenTable(op.block, op.block * plane),
                           evenTable(in[3], 1), evenTable(op.block, plane)},
                          arrays);
    return gatherInto({evenTable(in[0], in[1] * plane), evenTable(channels, plane), evenTable(in[2], in[3]),
                       evenTable(op.block, op.block * channels * plane), evenTable(in[3], 1),
                       evenTable(op.block, channels * plane)},
                      arrays);
}

Result<void> move(const ops::SpaceToDepth &op, const RawArrays &arrays)
{
    // (n, c, h, block, w, block) read in the order n, block, block, c, h, w.
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    return gatherInto({evenTable(in[0], in[1] * in[2] * in[3]), evenTable(op.block, in[3]),
                       evenTable(op.block, 1), evenTable(in[1], in[2] * in[3]),
                       evenTable(out[2], op.block * in[3]), evenTable(out[3], op.block)},
                      arrays);
}

namespace {

/// Joins inputs whose parts along the axis, with all that lies inside it, are runs of bytes.
Result<void> join(const RawArrays &arrays, std::size_t outer)
{
    std::vector<std::size_t> runs;
    for (const kernels::TensorDesc &input : arrays.operation.inputs)
        runs.push_back(outer == 0 ? 0 : count(input.shape.dims()) / outer * arrays.elementSize());
    std::byte *out = arrays.out[0];
    for (std::size_t o = 0; o < outer; ++o) {
        for (std::size_t i = 0; i < runs.size(); out += runs[i++]) {
            if (runs[i] > 0)
                std::memcpy(out, arrays.in[i] + o * runs[i], runs[i]);
        }
    }
    return {};
}

} // namespace

Result<void> move(const ops::Concat &op, const RawArrays &arrays)
{
    const DimSpan out = arrays.outDims(0);
    return join(arrays, extent(out, 0, fromFront(op.axis, out.size())));
}

Result<void> move(const ops::Stack &op, const RawArrays &arrays)
{
    const DimSpan out = arrays.outDims(0);
    return join(arrays, extent(out, 0, fromFront(op.axis, out.size())));
}

Result<void> move(const ops::Split &op, const RawArrays &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const std::size_t axis = fromFront(op.axis, in.size());
    const std::size_t outer = extent(in, 0, axis);
    const std::size_t whole = extent(in, axis, in.size()) * arrays.elementSize();
    // MXNet cuts at the indices, and what lies before the first of them is no part.
    std::size_t before = op.sections > 0 || op.indices.empty() || !op.sizes.empty()
        ? 0
        : static_cast<std::size_t>(op.indices[0]) * extent(in, axis + 1, in.size()) * arrays.elementSize();
    for (std::size_t i = 0; i < arrays.out.size(); ++i) {
        const std::size_t run = outer == 0 ? 0 : arrays.outCount(i) / outer * arrays.elementSize();
        for (std::size_t o = 0; arrays.out[i] && run > 0 && o < outer; ++o)
            std::memcpy(arrays.out[i] + o * run, arrays.in[0] + o * whole + before, run);
        before += run;
    }
    return {};
}

} // namespace halftone::backends::reference
