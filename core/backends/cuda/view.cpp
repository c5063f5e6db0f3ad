#include "core/backends/cuda/view.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace halftone::backends::cuda {

View viewOf(const kernels::TensorDesc &desc, Order order)
{
    View view{desc.dtype, Dims(desc.shape.dims().begin(), desc.shape.dims().end()), {}, 0};
    const std::size_t rank = view.dims.size();
    view.strides.assign(rank, 0);
    std::int64_t stride = 1;
    const bool last = order == Order::ChannelsLast && rank >= 3;
    if (last) {
        view.strides[1] = 1;
        stride = view.dims[1];
    }
    for (std::size_t axis = rank; axis-- > 0;) {
        if (last && axis == 1)
            continue;
        view.strides[axis] = stride;
        stride *= view.dims[axis];
    }
    return view;
}

std::int64_t countOf(std::span<const std::int64_t> dims)
{
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

View permuted(const View &view, std::span<const std::size_t> axes)
{
    View result{view.dtype, {}, {}, view.offset};
    for (const std::size_t axis : axes) {
        result.dims.push_back(view.dims[axis]);
        result.strides.push_back(view.strides[axis]);
    }
    return result;
}

View stretched(const View &view, std::span<const std::int64_t> dims)
{
    View result{view.dtype, Dims(dims.begin(), dims.end()), Dims(dims.size(), 0), view.offset};
    const std::size_t missing = dims.size() - view.dims.size();
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis)
        if (view.dims[axis] != 1)
            result.strides[missing + axis] = view.strides[axis];
    return result;
}

View sliced(const View &view, std::size_t axis, std::int64_t begin, std::int64_t count, std::int64_t step)
{
    View result = view;
    result.offset += begin * view.strides[axis];
    result.dims[axis] = count;
    result.strides[axis] *= step;
    return result;
}

std::optional<View> reshaped(const View &view, std::span<const std::int64_t> dims)
{
    // The old axes as runs that lie row-major; each new axis must cut one of them.
    Dims runs;
    Dims steps;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis) {
        if (view.dims[axis] == 1)
            continue;
        if (!runs.empty() && steps.back() == view.strides[axis] * view.dims[axis]) {
            runs.back() *= view.dims[axis];
            steps.back() = view.strides[axis];
        } else {
            runs.push_back(view.dims[axis]);
            steps.push_back(view.strides[axis]);
        }
    }
    View result{view.dtype, Dims(dims.begin(), dims.end()), Dims(dims.size(), 0), view.offset};
    std::size_t left = runs.size();
    std::int64_t inner = 1; // of the run at hand, what later axes took
    for (std::size_t axis = dims.size(); axis-- > 0;) {
        if (dims[axis] == 1)
            continue;
        if (left == 0 || runs[left - 1] / inner % dims[axis] != 0)
            return std::nullopt;
        result.strides[axis] = steps[left - 1] * inner;
        inner *= dims[axis];
        if (inner == runs[left - 1]) {
            --left;
            inner = 1;
        }
    }
    if (left != 0 || inner != 1) // more elements than the new axes have
        return std::nullopt;
    return result;
}

namespace {

/// Axes as the first view has them in memory, the slowest first; those of 1 left out.
std::vector<std::size_t> memoryOrder(const View &view)
{
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis)
        if (view.dims[axis] != 1)
            axes.push_back(axis);
    std::ranges::stable_sort(axes, [&view](std::size_t a, std::size_t b) {
        return std::abs(view.strides[a]) > std::abs(view.strides[b]);
    });
    return axes;
}

bool joins(std::span<const View> views, std::size_t outer, std::size_t inner)
{
    return std::ranges::all_of(views, [outer, inner](const View &view) {
        return view.strides[outer] == view.strides[inner] * view.dims[inner];
    });
}

} // namespace

View denseLike(const View &view)
{
    View dense{view.dtype, view.dims, Dims(view.dims.size(), 1), 0};
    const std::vector<std::size_t> order = memoryOrder(view);
    std::int64_t stride = 1;
    for (std::size_t k = order.size(); k-- > 0;) {
        dense.strides[order[k]] = stride;
        stride *= view.dims[order[k]];
    }
    return dense;
}

Walk walkOver(std::span<const View> views)
{
    assert(std::ranges::all_of(views, [&views](const View &v) { return v.dims == views[0].dims; }));
    Walk walk;
    walk.strides.resize(views.size());
    for (const View &view : views)
        walk.offsets.push_back(view.offset);
    std::optional<std::size_t> before;
    for (const std::size_t axis : memoryOrder(views[0])) {
        const bool isJoined = before && joins(views, *before, axis);
        if (isJoined)
            walk.dims.back() *= views[0].dims[axis];
        else
            walk.dims.push_back(views[0].dims[axis]);
        for (std::size_t k = 0; k < views.size(); ++k) {
            if (isJoined)
                walk.strides[k].back() = views[k].strides[axis];
            else
                walk.strides[k].push_back(views[k].strides[axis]);
        }
        before = axis;
    }
    return walk;
}

void copyElements(const View &from, std::span<const std::byte> source, const View &to,
                  std::span<std::byte> target)
{
    const std::size_t size = tensor::sizeOf(from.dtype);
    const Walk walk = walkOver(std::vector<View>{to, from});
    Dims at(walk.dims.size(), 0);
    for (std::int64_t i = 0; i < countOf(to.dims); ++i) {
        std::int64_t written = walk.offsets[0];
        std::int64_t read = walk.offsets[1];
        for (std::size_t axis = 0; axis < at.size(); ++axis) {
            written += at[axis] * walk.strides[0][axis];
            read += at[axis] * walk.strides[1][axis];
        }
        std::memcpy(target.data() + static_cast<std::size_t>(written) * size,
                    source.data() + static_cast<std::size_t>(read) * size, size);
        for (std::size_t axis = at.size(); axis-- > 0 && ++at[axis] == walk.dims[axis];)
            at[axis] = 0;
    }
}

bool isInSteps(const View &view, std::size_t axis, std::int64_t width)
{
    if (view.strides[axis] != 1 || view.offset % width != 0)
        return false;
    for (std::size_t other = 0; other < view.dims.size(); ++other)
        if (other != axis && view.dims[other] > 1 && view.strides[other] % width != 0)
            return false;
    return true;
}

} // namespace halftone::backends::cuda
