#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/gather.h"
#include "core/backends/reference/kernels.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace halftone::backends::reference {
namespace {

std::vector<std::int64_t> indices(const RawArrays &arrays, std::size_t input)
{
    return tensor::integers(arrays.operation.inputs[input].dtype, arrays.in[input], arrays.inCount(input));
}

/// Brings indices into [0, length) as the mode says. fails: an index outside, for IndexMode::Raise; any index into
/// nothing.
Result<void> resolve(std::vector<std::int64_t> &values, std::int64_t length, ops::IndexMode mode)
{
    for (std::int64_t &value : values) {
        const bool inside = value >= 0 && value < length;
        if (length < 1 || (mode == ops::IndexMode::Raise && !inside && !(value < 0 && value >= -length)))
            return badInput("input 1", "index " + std::to_string(value),
                            "an index from " + std::to_string(-length) + " to " + std::to_string(length - 1));
        if (inside)
            continue;
        value = mode == ops::IndexMode::Clip ? std::clamp<std::int64_t>(value, 0, length - 1)
                                             : (value % length + length) % length;
    }
    return {};
}

/// `data` (outer, length, inner) with the axis replaced by the indices.
Result<void> takeLines(const RawArrays &arrays, std::size_t data, const AxisView &view,
                       const std::vector<std::int64_t> &where)
{
    const std::size_t run = view.inner * arrays.elementSize();
    std::byte *out = arrays.out[0];
    for (std::size_t o = 0; o < view.outer && run > 0; ++o) {
        for (const std::int64_t i : where) {
            std::memcpy(out, arrays.in[data] + (o * view.length + static_cast<std::size_t>(i)) * run, run);
            out += run;
        }
    }
    return {};
}

} // namespace

Result<void> move(const ops::Embedding &, const RawArrays &arrays)
{
    std::vector<std::int64_t> where = indices(arrays, 0);
    const AxisView view(arrays.inDims(1), 0);
    HALFTONE_CHECK(resolve(where, static_cast<std::int64_t>(view.length), ops::IndexMode::Clip));
    return takeLines(arrays, 1, view, where);
}

Result<void> move(const ops::Gather &op, const RawArrays &arrays)
{
    std::vector<std::int64_t> where = indices(arrays, 1);
    const AxisView view(arrays.inDims(0), fromFront(op.axis, arrays.inDims(0).size()));
    HALFTONE_CHECK(resolve(where, static_cast<std::int64_t>(view.length), op.mode));
    return takeLines(arrays, 0, view, where);
}

Result<void> move(const ops::ScatterIntoZeros &, const RawArrays &arrays)
{
    const DimSpan out = arrays.outDims(0);
    if (arrays.inDims(1).empty() || arrays.inDims(1)[0] > static_cast<std::int64_t>(out.size()))
        return badInput("input 1", arrays.operation.inputs[1].shape.toString(),
                        "at most " + std::to_string(out.size()) + " rows, one for each indexed axis");
    const auto axes = static_cast<std::size_t>(arrays.inDims(1)[0]);
    const std::vector<std::int64_t> where = indices(arrays, 1);
    const std::size_t places = axes == 0 ? 1 : where.size() / axes;
    const std::vector<std::int64_t> strides = denseStrides(out);
    const std::size_t elements = extent(out, axes, out.size());
    const std::size_t run = elements * arrays.elementSize();
    if (places * elements != arrays.inCount(0))
        return badInput("input 0", arrays.operation.inputs[0].shape.toString(),
                        std::to_string(places * elements) + " elements, as many as the indices address");
    std::memset(arrays.out[0], 0, arrays.outCount(0) * arrays.elementSize());
    for (std::size_t p = 0; p < places && run > 0; ++p) {
        std::int64_t offset = 0;
        for (std::size_t axis = 0; axis < axes; ++axis) {
            const std::int64_t i = where[axis * places + p];
            if (i < 0 || i >= out[axis])
                return badInput("input 1", "index " + std::to_string(i) + " on axis " + std::to_string(axis),
                                "an index below " + std::to_string(out[axis]));
            offset += i * strides[axis];
        }
        std::memcpy(arrays.out[0] + static_cast<std::size_t>(offset) * arrays.elementSize(),
                    arrays.in[0] + p * run, run);
    }
    return {};
}

namespace {

/// out[line] = data[line, where[line]].
Result<void> pickLines(const RawArrays &arrays, const AxisView &view, const std::vector<std::int64_t> &where)
{
    if (where.size() != view.lines())
        return badInput("input 1", std::to_string(where.size()) + " indices", std::to_string(view.lines()));
    const std::size_t size = arrays.elementSize();
    for (std::size_t line = 0; line < where.size(); ++line)
        std::memcpy(arrays.out[0] + line * size,
                    arrays.in[0]
                        + (view.begin(line) + static_cast<std::size_t>(where[line]) * view.inner) * size,
                    size);
    return {};
}

} // namespace

Result<void> move(const ops::IndexCopy &, const RawArrays &arrays)
{
    const AxisView view(arrays.inDims(0), 0);
    const std::size_t run = view.inner * arrays.elementSize();
    const std::vector<std::int64_t> where = indices(arrays, 1);
    if (view.length * run == 0)
        return {};
    std::memcpy(arrays.out[0], arrays.in[0], view.length * run);
    for (std::size_t i = 0; i < where.size(); ++i) {
        if (where[i] < 0 || where[i] >= arrays.inDims(0)[0])
            return badInput("input 1", "row " + std::to_string(where[i]),
                            "a row below " + std::to_string(view.length));
        std::memcpy(arrays.out[0] + static_cast<std::size_t>(where[i]) * run, arrays.in[2] + i * run, run);
    }
    return {};
}

Result<void> move(const ops::Pick &op, const RawArrays &arrays)
{
    std::vector<std::int64_t> where = indices(arrays, 1);
    const AxisView view(arrays.inDims(0), fromFront(op.axis, arrays.inDims(0).size()));
    HALFTONE_CHECK(resolve(where, static_cast<std::int64_t>(view.length), op.mode));
    return pickLines(arrays, view, where);
}

Result<void> move(const ops::BatchTake &, const RawArrays &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    if (dims.empty())
        return badInput("input 0", "a scalar", "rows to take from");
    std::vector<std::int64_t> where = indices(arrays, 1);
    const AxisView view(dims, dims.size() - 1);
    HALFTONE_CHECK(resolve(where, static_cast<std::int64_t>(view.length), ops::IndexMode::Clip));
    return pickLines(arrays, view, where);
}

namespace {

/// Where with three inputs that stretch to each other.
Result<void> chooseStretched(const RawArrays &arrays)
{
    const DimSpan dims = arrays.outDims(0);
    if (arrays.outCount(0) == 0)
        return {};
    std::vector<double> condition(arrays.inCount(0));
    tensor::widen(arrays.operation.inputs[0].dtype, arrays.in[0], condition.size(), condition.data());
    const std::size_t size = arrays.elementSize();
    std::vector<std::vector<std::int64_t>> strides;
    for (std::size_t i = 0; i < 3; ++i)
        strides.push_back(stretchedStrides(arrays.inDims(i), dims));
    RowWalk walk(dims, strides);
    std::byte *out = arrays.out[0];
    for (std::size_t row = 0; row < walk.rowCount(); ++row, walk.next()) {
        for (std::size_t i = 0; i < walk.rowLength(); ++i, out += size) {
            const auto at = [&](std::size_t input) {
                return static_cast<std::size_t>(walk.offset(input)
                                                + static_cast<std::int64_t>(i) * walk.step(input));
            };
            const std::size_t from = condition[at(0)] != 0 ? 1 : 2;
            std::memcpy(out, arrays.in[from] + at(from) * size, size);
        }
    }
    return {};
}

} // namespace

Result<void> move(const ops::Where &op, const RawArrays &arrays)
{
    if (op.broadcast)
        return chooseStretched(arrays);
    const std::size_t elements = arrays.outCount(0);
    const std::size_t conditions = arrays.inCount(0);
    if (conditions == 0)
        return {};
    std::vector<double> condition(conditions);
    tensor::widen(arrays.operation.inputs[0].dtype, arrays.in[0], conditions, condition.data());
    const std::size_t run = elements / conditions; // 1, or a row for each condition
    const std::size_t bytes = run * arrays.elementSize();
    for (std::size_t i = 0; i < conditions && bytes > 0; ++i)
        std::memcpy(arrays.out[0] + i * bytes, arrays.in[condition[i] != 0 ? 1 : 2] + i * bytes, bytes);
    return {};
}

Result<void> move(const ops::Sequence &op, const RawArrays &arrays)
{
    using Kind = ops::Sequence::Kind;
    const DimSpan dims = arrays.inDims(0);
    const std::int64_t steps = dims[op.axis == 0 ? 0 : 1];
    const std::int64_t batch = dims[op.axis == 0 ? 1 : 0];
    const std::int64_t stepStride = op.axis == 0 ? batch : 1;
    const std::int64_t batchStride = op.axis == 0 ? 1 : steps;
    const std::size_t run = extent(dims, 2, dims.size()) * arrays.elementSize();
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(batch), steps);
    if (op.useLength)
        lengths = indices(arrays, 1);
    std::array<std::byte, 8> fill{};
    tensor::narrow(&op.value, 1, arrays.operation.outputs[0].dtype, fill.data());
    for (std::int64_t n = 0; n < batch && run > 0; ++n) {
        const std::int64_t given = lengths[static_cast<std::size_t>(n)];
        if (op.kind != Kind::Mask && (given < (op.kind == Kind::Last ? 1 : 0) || given > steps))
            return badInput("input 1", "length " + std::to_string(given), "1 to " + std::to_string(steps));
        const std::int64_t length = std::clamp<std::int64_t>(given, 0, steps);
        const auto from = [&](std::int64_t t) {
            return arrays.in[0] + static_cast<std::size_t>(t * stepStride + n * batchStride) * run;
        };
        if (op.kind == Kind::Last) {
            std::memcpy(arrays.out[0] + static_cast<std::size_t>(n) * run, from(length - 1), run);
            continue;
        }
        for (std::int64_t t = 0; t < steps; ++t) {
            std::byte *to = arrays.out[0] + static_cast<std::size_t>(t * stepStride + n * batchStride) * run;
            const bool beyond = t >= length;
            if (op.kind == Kind::Reverse || !beyond) {
                std::memcpy(to, from(op.kind == Kind::Reverse && !beyond ? length - 1 - t : t), run);
                continue;
            }
            for (std::size_t at = 0; at < run; at += arrays.elementSize())
                std::memcpy(to + at, fill.data(), arrays.elementSize());
        }
    }
    return {};
}

} // namespace halftone::backends::reference
