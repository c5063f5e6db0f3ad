#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/tensor/elements.h"

#include <cstring>
#include <numeric>

/// Operators about the places of elements.
namespace halftone::backends::reference {
namespace {

/// Element i of output 0 is f(i), by way of double.
template <class F>
Result<void> fill(const RawArrays &arrays, const F &f)
{
    std::vector<double> values(arrays.outCount(0));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<double>(f(i));
    tensor::narrow(values.data(), values.size(), arrays.operation.outputs[0].dtype, arrays.out[0]);
    return {};
}

void copyWhole(const RawArrays &arrays)
{
    if (arrays.outCount(0) > 0)
        std::memcpy(arrays.out[0], arrays.in[0], arrays.outCount(0) * arrays.elementSize());
}

void copyElement(const RawArrays &arrays, std::size_t to, const std::byte *from, std::size_t at)
{
    const std::size_t size = arrays.elementSize();
    std::memcpy(arrays.out[0] + to * size, from + at * size, size);
}

/// How far along `axis` element i of a shape lies.
std::int64_t along(DimSpan dims, std::size_t axis, std::size_t i)
{
    return static_cast<std::int64_t>(i / extent(dims, axis + 1, dims.size()))
        % std::max<std::int64_t>(dims[axis], 1);
}

} // namespace

Result<void> move(const ops::Linspace &op, const RawArrays &arrays)
{
    const double stop = op.stop.value_or(op.start);
    const std::int64_t steps = op.endpoint ? op.count - 1 : op.count;
    const double step = steps > 0 ? (stop - op.start) / static_cast<double>(steps) : 0;
    return fill(arrays, [&](std::size_t i) { return op.start + static_cast<double>(i) * step; });
}

Result<void> move(const ops::IndexArray &op, const RawArrays &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    std::vector<std::size_t> axes(dims.size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    if (op.axes) {
        axes.clear();
        for (const std::int64_t axis : *op.axes)
            axes.push_back(fromFront(axis, dims.size()));
    }
    return fill(arrays, [&](std::size_t i) { return along(dims, axes[i % axes.size()], i / axes.size()); });
}

Result<void> move(const ops::FlatIndex &op, const RawArrays &arrays)
{
    const ops::Dims &shape = *op.shape;
    const std::vector<std::int64_t> given
        = tensor::integers(arrays.operation.inputs[0].dtype, arrays.in[0], arrays.inCount(0));
    const std::size_t count = op.unravel ? given.size() : arrays.outCount(0);
    if (op.unravel)
        return fill(arrays, [&](std::size_t i) {
            const std::size_t axis = i / count;
            const auto inner = static_cast<std::int64_t>(extent(shape, axis + 1, shape.size()));
            const std::int64_t rows = given[i % count] / std::max<std::int64_t>(inner, 1);
            // The first axis takes what is beyond the shape, as MXNet has it.
            return axis == 0 ? rows : rows % std::max<std::int64_t>(shape[axis], 1);
        });
    return fill(arrays, [&](std::size_t i) {
        std::int64_t place = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            place = place * shape[axis] + given[axis * count + i];
        return place;
    });
}

Result<void> move(const ops::Diagonal &op, const RawArrays &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::int64_t rowShift = std::max<std::int64_t>(-op.offset, 0);
    const std::int64_t columnShift = std::max<std::int64_t>(op.offset, 0);
    if (in.size() == 1) {
        std::memset(arrays.out[0], 0, arrays.outCount(0) * arrays.elementSize());
        for (std::int64_t k = 0; k < in[0]; ++k)
            copyElement(arrays, static_cast<std::size_t>((k + rowShift) * out[1] + k + columnShift),
                        arrays.in[0], static_cast<std::size_t>(k));
        return {};
    }
    const std::size_t first = fromFront(op.first, in.size());
    const std::size_t second = fromFront(op.second, in.size());
    const std::vector<std::int64_t> strides = denseStrides(in);
    std::vector<std::int64_t> outStrides; // what a step along an output's axis is in the input
    for (std::size_t axis = 0; axis < in.size(); ++axis)
        if (axis != first && axis != second)
            outStrides.push_back(strides[axis]);
    outStrides.push_back(strides[first] + strides[second]);
    const std::int64_t begin = rowShift * strides[first] + columnShift * strides[second];
    for (std::size_t i = 0; i < arrays.outCount(0); ++i) {
        std::int64_t offset = begin;
        for (std::size_t axis = 0; axis < out.size(); ++axis)
            offset += along(out, axis, i) * outStrides[axis];
        copyElement(arrays, i, arrays.in[0], static_cast<std::size_t>(offset));
    }
    return {};
}

Result<void> move(const ops::SliceAssign &op, const RawArrays &arrays)
{
    copyWhole(arrays);
    const DimSpan dims = arrays.outDims(0);
    const std::vector<std::int64_t> strides = denseStrides(dims);
    std::vector<std::int64_t> first(dims.size(), 0);
    std::vector<std::int64_t> step(dims.size(), 1);
    ops::Dims extents(dims.begin(), dims.end());
    for (std::size_t axis = 0; axis < op.slice.begin.size(); ++axis) {
        const std::int64_t size = dims[axis];
        step[axis] = axis < op.slice.step.size() ? op.slice.step[axis].value_or(1) : 1;
        const bool forward = step[axis] > 0;
        const auto place = [&](const std::optional<std::int64_t> &given, std::int64_t absent) {
            const std::int64_t at = given ? (*given < 0 ? *given + size : *given) : absent;
            return std::clamp<std::int64_t>(at, forward ? 0 : -1, forward ? size : size - 1);
        };
        first[axis] = place(op.slice.begin[axis], forward ? 0 : size - 1);
        const std::int64_t end = place(op.slice.end[axis], forward ? size : -1);
        const std::int64_t reach = forward ? end - first[axis] : first[axis] - end;
        const std::int64_t stride = std::abs(step[axis]);
        extents[axis] = std::max<std::int64_t>(0, (reach + stride - 1) / stride);
    }
    std::vector<std::byte> scalar(arrays.elementSize());
    if (op.isScalar)
        tensor::narrow(&op.value, 1, arrays.operation.outputs[0].dtype, scalar.data());
    for (std::size_t i = 0; i < count(extents); ++i) {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < dims.size(); ++axis)
            offset += (first[axis] + along(extents, axis, i) * step[axis]) * strides[axis];
        copyElement(arrays, static_cast<std::size_t>(offset), op.isScalar ? scalar.data() : arrays.in[1],
                    op.isScalar ? 0 : i);
    }
    return {};
}

Result<void> move(const ops::ScatterAssign &, const RawArrays &arrays)
{
    copyWhole(arrays);
    const DimSpan dims = arrays.outDims(0);
    const auto axes = static_cast<std::size_t>(arrays.inDims(2)[0]);
    const std::vector<std::int64_t> where
        = tensor::integers(arrays.operation.inputs[2].dtype, arrays.in[2], arrays.inCount(2));
    const std::size_t places = axes == 0 ? 1 : where.size() / axes;
    const std::vector<std::int64_t> strides = denseStrides(dims);
    const std::size_t run = extent(dims, axes, dims.size()) * arrays.elementSize();
    for (std::size_t p = 0; p < places && run > 0; ++p) {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const std::int64_t i = where[axis * places + p];
            if (i < 0 || i >= dims[axis])
                return badInput("input 2", "index " + std::to_string(i) + " on axis " + std::to_string(axis),
                                "an index below " + std::to_string(dims[axis]));
            offset += i * strides[axis];
        }
        std::memcpy(arrays.out[0] + static_cast<std::size_t>(offset) * arrays.elementSize(),
                    arrays.in[1] + p * run, run);
    }
    return {};
}

Result<void> move(const ops::SvmOutput &, const RawArrays &arrays)
{
    copyWhole(arrays);
    return {};
}

Result<void> move(const ops::SparsityPenalty &, const RawArrays &arrays)
{
    copyWhole(arrays);
    return {};
}

} // namespace halftone::backends::reference
