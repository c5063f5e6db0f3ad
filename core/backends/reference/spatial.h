#pragma once

#include "core/backends/reference/arrays.h"
#include "core/ops/window.h"

#include <array>
#include <limits>

namespace halftone::backends::reference {

using ops::Layout;

/// The lowest finite number of a type; of integers and float64 Real's.
template <class Real>
Real lowestOf(tensor::DType type)
{
    return tensor::fitsFloat32(type) ? static_cast<Real>(-tensor::rangeOf(type).largest)
                                     : std::numeric_limits<Real>::lowest();
}

/// A tensor (N, C, spatial…) or (N, spatial…, C) seen as one with three spatial axes.
struct Picture
{
    std::int64_t channels = 1;
    std::array<std::int64_t, 3> size{1, 1, 1};
    std::int64_t batchStride = 0;
    std::int64_t channelStride = 0;
    std::array<std::int64_t, 3> strides{};

    Picture(DimSpan dims, Layout layout)
    {
        const std::size_t spatial = dims.size() - 2;
        const std::size_t first = ops::firstSpatialAxis(layout);
        channels = dims[ops::channelAxis(layout, spatial)];
        std::int64_t stride = layout == Layout::ChannelsFirst ? 1 : channels;
        for (std::size_t i = 0; i < spatial; ++i) {
            const std::size_t axis = 2 - i;
            size[axis] = dims[first + spatial - 1 - i];
            strides[axis] = stride;
            stride *= size[axis];
        }
        for (std::size_t axis = 0; axis + spatial < 3; ++axis)
            strides[axis] = stride;
        channelStride = layout == Layout::ChannelsFirst ? stride : 1;
        batchStride = channels * positions();
    }

    std::int64_t positions() const { return size[0] * size[1] * size[2]; }
    std::array<std::int64_t, 3> position(std::int64_t index) const
    {
        return {index / (size[1] * size[2]), index / size[2] % size[1], index % size[2]};
    }
};

/// A Window with three axes, the leading ones of extent 1.
struct Window3
{
    std::array<std::int64_t, 3> kernel{1, 1, 1};
    std::array<std::int64_t, 3> stride{1, 1, 1};
    std::array<std::int64_t, 3> dilate{1, 1, 1};
    std::array<std::int64_t, 3> padBegin{};
    std::array<std::int64_t, 3> padEnd{};

    explicit Window3(const ops::Window &window)
    {
        for (std::size_t i = 0; i < window.rank(); ++i) {
            const std::size_t axis = 3 - window.rank() + i;
            kernel[axis] = window.kernel[i];
            stride[axis] = window.stride[i];
            dilate[axis] = window.dilate[i];
            padBegin[axis] = window.padBegin[i];
            padEnd[axis] = window.padEnd[i];
        }
    }

    std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
    std::array<std::int64_t, 3> tap(std::int64_t index) const
    {
        return {index / (kernel[1] * kernel[2]), index / kernel[2] % kernel[1], index % kernel[2]};
    }
};

} // namespace halftone::backends::reference
