#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/gather.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/typed.h"
#include "core/ops/shape_slots.h"

#include <algorithm>
#include <array>
#include <cstring>

/// Parts of tensors: slices, triangles, what a condition lets through.
namespace halftone::backends::reference {
namespace {

constexpr std::array<std::byte, 8> kNothing{};

Result<void> gathered(const AxisTables &tables, const RawArrays &arrays)
{
    gather(tables, arrays.elementSize(), arrays.in[0], kNothing.data(), arrays.out[0]);
    return {};
}

std::vector<bool> conditions(const RawArrays &arrays, std::size_t input)
{
    std::vector<double> values(arrays.inCount(input));
    tensor::widen(arrays.operation.inputs[input].dtype, arrays.in[input], values.size(), values.data());
    std::vector<bool> holds(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        holds[i] = values[i] != 0;
    return holds;
}

} // namespace

Result<void> move(const ops::Compress &op, const RawArrays &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const AxisView view
        = op.axis ? AxisView(dims, fromFront(*op.axis, dims.size())) : AxisView(arrays.inCount(0));
    const std::vector<bool> holds = conditions(arrays, 1);
    if (op.needsAll && holds.size() != view.length)
        return badInput("input 1", arrays.operation.inputs[1].shape.toString(),
                        "one value for each of the " + std::to_string(view.length) + " slices");
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < holds.size(); ++i)
        if (holds[i])
            chosen.push_back(i);
    if ((!chosen.empty() && chosen.back() >= view.length)
        || chosen.size() * view.lines() != arrays.outCount(0))
        return badInput("input 1", arrays.operation.inputs[1].shape.toString(),
                        "a condition for at most " + std::to_string(view.length) + " places");
    const std::size_t run = view.inner * arrays.elementSize();
    std::byte *out = arrays.out[0];
    for (std::size_t o = 0; o < view.outer && run > 0; ++o)
        for (const std::size_t i : chosen) {
            std::memcpy(out, arrays.in[0] + (o * view.length + i) * run, run);
            out += run;
        }
    return {};
}

Result<void> move(const ops::NonZero &, const RawArrays &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::vector<bool> holds = conditions(arrays, 0);
    const auto found = static_cast<std::size_t>(std::ranges::count(holds, true));
    if (found * dims.size() != arrays.outCount(0))
        return badInput("input 0", std::to_string(found) + " elements that are not 0",
                        "as many as the output has");
    const std::vector<std::int64_t> strides = denseStrides(dims);
    std::vector<std::int64_t> places(arrays.outCount(0));
    std::size_t k = 0;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        if (!holds[i])
            continue;
        for (std::size_t axis = 0; axis < dims.size(); ++axis)
            places[axis * found + k] = static_cast<std::int64_t>(i) / strides[axis] % dims[axis];
        ++k;
    }
    store(places, arrays.operation.outputs[0].dtype, arrays.out[0]);
    return {};
}

Result<void> move(const ops::OneHot &op, const RawArrays &arrays)
{
    if (op.hasValues && arrays.inCount(2) != 2)
        return badInput("input 2", arrays.operation.inputs[2].shape.toString(), "(2), off and on");
    const std::vector<std::int64_t> where = loadedInput<std::int64_t>(arrays, 0);
    const AxisView view(arrays.outDims(0), fromFront(op.axis, arrays.outDims(0).size()));
    const std::size_t size = arrays.elementSize();
    const std::array<double, 2> written{op.off, op.on};
    std::array<std::byte, 2 * sizeof(double)> narrowed{};
    tensor::narrow(written.data(), written.size(), arrays.operation.outputs[0].dtype, narrowed.data());
    const std::byte *const values = op.hasValues ? arrays.in[2] : narrowed.data();
    for (std::size_t i = 0; i < arrays.outCount(0); ++i)
        std::memcpy(arrays.out[0] + i * size, values, size);
    for (std::size_t line = 0; line < where.size(); ++line) {
        const std::int64_t at = where[line] < 0 && op.hasValues ? where[line] + op.depth : where[line];
        if (at >= 0 && at < op.depth)
            std::memcpy(arrays.out[0] + (view.begin(line) + static_cast<std::size_t>(at) * view.inner) * size,
                        values + size, size);
    }
    return {};
}

Result<void> move(const ops::Trilu &op, const RawArrays &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t size = arrays.elementSize();
    if (arrays.outCount(0) == 0)
        return {};
    std::memset(arrays.out[0], 0, arrays.outCount(0) * size);
    const std::int64_t rows = dims[dims.size() - 2];
    const std::int64_t columns = dims.back();
    for (std::size_t matrix = 0; matrix < extent(dims, 0, dims.size() - 2); ++matrix)
        for (std::int64_t row = 0; row < rows; ++row) {
            // Offsets of any size: kept within one beyond the matrix.
            const std::int64_t edge = row + std::clamp<std::int64_t>(op.offset, -rows - 1, columns + 1);
            const std::int64_t begin = op.upper ? std::clamp<std::int64_t>(edge, 0, columns) : 0;
            const std::int64_t end = op.upper ? columns : std::clamp<std::int64_t>(edge + 1, 0, columns);
            const std::size_t at = matrix * static_cast<std::size_t>(rows * columns)
                + static_cast<std::size_t>(row * columns + begin);
            if (end > begin)
                std::memcpy(arrays.out[0] + at * size, arrays.in[0] + at * size,
                            static_cast<std::size_t>(end - begin) * size);
        }
    return {};
}

Result<void> move(const ops::EyeLike &op, const RawArrays &arrays)
{
    const auto columns = arrays.outDims(0)[1];
    std::vector<std::int64_t> values(arrays.outCount(0), 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t row = static_cast<std::int64_t>(i) / columns;
        values[i] = static_cast<std::int64_t>(i) % columns - row == op.offset ? 1 : 0;
    }
    store(values, arrays.operation.outputs[0].dtype, arrays.out[0]);
    return {};
}

Result<void> move(const ops::CenterCropPad &, const RawArrays &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const std::vector<std::int64_t> strides = denseStrides(in);
    AxisTables tables;
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
        const std::int64_t length = arrays.outDims(0)[axis];
        const std::int64_t first = length < in[axis] ? (in[axis] - length) / 2 : -((length - in[axis]) / 2);
        std::vector<std::int64_t> table(static_cast<std::size_t>(length));
        for (std::int64_t i = 0; i < length; ++i) {
            const std::int64_t at = first + i;
            table[static_cast<std::size_t>(i)] = at < 0 || at >= in[axis] ? kOutside : at * strides[axis];
        }
        tables.push_back(std::move(table));
    }
    return gathered(tables, arrays);
}

} // namespace halftone::backends::reference
