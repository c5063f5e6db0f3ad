#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/typed.h"

#include <algorithm>
#include <cstring>

/// Reading from and writing to places that a tensor names.
namespace halftone::backends::reference {
namespace {

/// Counts a negative index from the end. false: it lies outside the extent
bool settlePlace(std::int64_t &index, std::int64_t extent)
{
    if (index < -extent || index >= extent)
        return false;
    index += index < 0 ? extent : 0;
    return true;
}

Error outsideExtent(std::int64_t index, std::int64_t extent)
{
    return badInput("input 1", "index " + std::to_string(index),
                    std::to_string(-extent) + " to " + std::to_string(extent - 1));
}

/// Copies runs of `bytes`, one for each of the `count`, between the places that `from` and `to` name, in bytes. Single elements are
/// most of what models scatter.
template <class From, class To>
void copyRuns(std::size_t count, std::size_t bytes, const From &from, const To &to)
{
    if (bytes == sizeof(float)) {
        for (std::size_t i = 0; i < count; ++i)
            std::memcpy(to(i), from(i), sizeof(float));
        return;
    }
    for (std::size_t i = 0; i < count && bytes > 0; ++i)
        std::memcpy(to(i), from(i), bytes);
}

/// For every element of `places` (input 1), in order: where in data it points along the axis.
Result<std::vector<std::int64_t>> offsetsAlong(const RawArrays &arrays, std::int64_t namedAxis)
{
    const DimSpan data = arrays.inDims(0);
    const DimSpan dims = arrays.inDims(1);
    const std::size_t axis = fromFront(namedAxis, data.size());
    std::vector<std::int64_t> offsets = loadedInput<std::int64_t>(arrays, 1);
    if (offsets.empty())
        return offsets;
    std::vector<std::int64_t> strides = denseStrides(data);
    const std::int64_t along = strides[axis];
    for (std::size_t other = 0; other < dims.size(); ++other)
        if (other != axis && dims[other] > data[other])
            return badInput("input 1", arrays.operation.inputs[1].shape.toString(),
                            "no more than " + arrays.operation.inputs[0].shape.toString()
                                + " beside the axis");
    strides[axis] = 0;
    RowWalk walk(dims, {strides});
    std::size_t i = 0;
    for (std::size_t row = 0; row < walk.rowCount(); ++row, walk.next()) {
        std::int64_t base = walk.offset(0);
        for (std::size_t k = 0; k < walk.rowLength(); ++k, ++i, base += walk.step(0)) {
            std::int64_t index = offsets[i];
            if (!settlePlace(index, data[axis]))
                return outsideExtent(index, data[axis]);
            offsets[i] = base + index * along;
        }
    }
    return offsets;
}

/// Tuples of indices (input 1): which element of which tuple lies where.
struct Tuples
{
    std::size_t count = 0;
    std::size_t length = 0; ///< of a tuple
    bool byRows = false; ///< the tuples lie side by side

    std::size_t place(std::size_t tuple, std::size_t k) const
    {
        return byRows ? k * count + tuple : tuple * length + k;
    }
};

/// Where the slices begin that tuples of indices name, in elements of data, batch axes left out.
Result<std::vector<std::int64_t>> offsetsOfTuples(const RawArrays &arrays, std::size_t batchAxes,
                                                  bool byRows = false)
{
    const DimSpan data = arrays.inDims(0);
    const DimSpan dims = arrays.inDims(1);
    const Tuples tuples{byRows ? extent(dims, 1, dims.size()) : extent(dims, 0, dims.size() - 1),
                        static_cast<std::size_t>(byRows ? dims.front() : dims.back()), byRows};
    const std::vector<std::int64_t> indices = loadedInput<std::int64_t>(arrays, 1);
    const std::vector<std::int64_t> strides = denseStrides(data);
    std::vector<std::int64_t> offsets(tuples.count, 0);
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        for (std::size_t k = 0; k < tuples.length; ++k) {
            std::int64_t index = indices[tuples.place(i, k)];
            if (!settlePlace(index, data[batchAxes + k]))
                return outsideExtent(index, data[batchAxes + k]);
            offsets[i] += index * strides[batchAxes + k];
        }
    }
    return offsets;
}

template <class Number>
Number scattered(ops::ScatterRule rule, Number old, Number update)
{
    switch (rule) {
    case ops::ScatterRule::Replace:
        return update;
    case ops::ScatterRule::Add:
        return static_cast<Number>(old + update);
    case ops::ScatterRule::Multiply:
        return static_cast<Number>(old * update);
    case ops::ScatterRule::Maximum: // a NaN on either side stays
        return old < update || update != update ? update : old;
    case ops::ScatterRule::Minimum:
        return update < old || update != update ? update : old;
    }
    return update;
}

/// Data with runs of the updates (input 2) written at the offsets.
Result<void> scatter(const RawArrays &arrays, const std::vector<std::int64_t> &offsets, std::size_t run,
                     ops::ScatterRule rule)
{
    const std::size_t size = arrays.elementSize();
    if (arrays.outCount(0) > 0)
        std::memcpy(arrays.out[0], arrays.in[0], arrays.outCount(0) * size);
    if (rule == ops::ScatterRule::Replace) {
        copyRuns(
            offsets.size(), run * size, [&](std::size_t i) { return arrays.in[2] + i * run * size; },
            [&](std::size_t i) { return arrays.out[0] + static_cast<std::size_t>(offsets[i]) * size; });
        return {};
    }
    const tensor::DType type = arrays.operation.outputs[0].dtype;
    withNumbers(type, [&](auto number) {
        using Number = decltype(number);
        std::vector<Number> all = loadedInput<Number>(arrays, 0);
        const std::vector<Number> updates = loadedInput<Number>(arrays, 2);
        for (std::size_t i = 0; i < offsets.size(); ++i)
            for (std::size_t k = 0; k < run; ++k) {
                Number &old = all[static_cast<std::size_t>(offsets[i]) + k];
                old = scattered(rule, old, updates[i * run + k]);
            }
        store(all, type, arrays.out[0]);
    });
    return {};
}

} // namespace

Result<void> move(const ops::GatherElements &op, const RawArrays &arrays)
{
    HALFTONE_TRY(const std::vector<std::int64_t> offsets, offsetsAlong(arrays, op.axis));
    const std::size_t size = arrays.elementSize();
    copyRuns(
        offsets.size(), size,
        [&](std::size_t i) { return arrays.in[0] + static_cast<std::size_t>(offsets[i]) * size; },
        [&](std::size_t i) { return arrays.out[0] + i * size; });
    return {};
}

Result<void> move(const ops::GatherND &op, const RawArrays &arrays)
{
    const auto batchAxes = static_cast<std::size_t>(op.batchAxes);
    const DimSpan data = arrays.inDims(0);
    for (std::size_t axis = 0; axis < batchAxes; ++axis)
        if (data[axis] != arrays.inDims(1)[axis])
            return badInput("input 1", arrays.operation.inputs[1].shape.toString(),
                            "the first " + std::to_string(batchAxes) + " extents of input 0");
    HALFTONE_TRY(const std::vector<std::int64_t> offsets, offsetsOfTuples(arrays, batchAxes, op.byRows));
    const std::size_t batches = extent(data, 0, batchAxes);
    const std::size_t ofBatch = std::max<std::size_t>(batches == 0 ? 0 : offsets.size() / batches, 1);
    const std::size_t step = extent(data, batchAxes, data.size());
    const std::size_t run = offsets.empty() ? 0 : arrays.outCount(0) / offsets.size() * arrays.elementSize();
    for (std::size_t i = 0; i < offsets.size() && run > 0; ++i) {
        const std::size_t from = i / ofBatch * step + static_cast<std::size_t>(offsets[i]);
        std::memcpy(arrays.out[0] + i * run, arrays.in[0] + from * arrays.elementSize(), run);
    }
    return {};
}

Result<void> move(const ops::ScatterElements &op, const RawArrays &arrays)
{
    HALFTONE_TRY(const std::vector<std::int64_t> offsets, offsetsAlong(arrays, op.axis));
    return scatter(arrays, offsets, 1, op.rule);
}

Result<void> move(const ops::ScatterND &op, const RawArrays &arrays)
{
    HALFTONE_TRY(const std::vector<std::int64_t> offsets, offsetsOfTuples(arrays, 0));
    return scatter(arrays, offsets, offsets.empty() ? 0 : arrays.inCount(2) / offsets.size(), op.rule);
}

Result<void> move(const ops::TensorScatter &op, const RawArrays &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t axis = fromFront(op.axis, dims.size());
    const AxisView cache(dims, axis);
    const AxisView update(arrays.inDims(1), axis);
    const auto batch = static_cast<std::size_t>(dims[0]);
    const std::vector<std::int64_t> begins
        = op.hasBegins ? loadedInput<std::int64_t>(arrays, 2) : std::vector<std::int64_t>(batch, 0);
    const std::size_t run = cache.inner * arrays.elementSize();
    if (arrays.outCount(0) > 0)
        std::memcpy(arrays.out[0], arrays.in[0], arrays.outCount(0) * arrays.elementSize());
    for (std::size_t o = 0; o < update.outer && run > 0; ++o) {
        const std::int64_t begin = begins[o / std::max<std::size_t>(update.outer / batch, 1)];
        for (std::size_t t = 0; t < update.length; ++t) {
            std::int64_t at = begin + static_cast<std::int64_t>(t);
            if (op.circular)
                at = (at % dims[axis] + dims[axis]) % dims[axis];
            if (at < 0 || at >= dims[axis])
                return badInput("input 2", "place " + std::to_string(at),
                                "0 to " + std::to_string(dims[axis] - 1));
            std::memcpy(arrays.out[0] + (o * cache.length + static_cast<std::size_t>(at)) * run,
                        arrays.in[1] + (o * update.length + t) * run, run);
        }
    }
    return {};
}

} // namespace halftone::backends::reference
