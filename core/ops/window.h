#pragma once

#include "core/ops/op_types.h"
#include "core/ops/shape_slots.h"

namespace halftone::ops {

/// The sliding window of a convolution or pooling, checked and with the defaults filled in: one value for
/// each spatial axis.
struct Window
{
    Dims kernel;
    Dims stride;
    Dims dilate;
    Dims padBegin;
    Dims padEnd;
    bool same = false; ///< the padding follows from the extent: Padding::Same

    std::size_t rank() const { return kernel.size(); }
    /// Extent that the kernel covers on an axis.
    Dim reach(std::size_t axis) const { return Dim(dilate[axis]) * (Dim(kernel[axis]) - 1) + 1; }
    Dim padding(std::size_t axis) const { return Dim(padBegin[axis]) + padEnd[axis]; }
};

/// fails: kernel of no axes or more than `mostAxes`, a list of another length, a kernel, stride or dilation below 1, a
/// negative pad.
Result<Window> makeWindow(const Dims &kernel, const Dims &stride, const Dims &dilate, const Padding &pad,
                          std::size_t mostAxes = 3);

/// Axis of the channels, and the first spatial one.
constexpr std::size_t channelAxis(Layout layout, std::size_t spatialRank)
{
    return layout == Layout::ChannelsFirst ? 1 : spatialRank + 1;
}
constexpr std::size_t firstSpatialAxis(Layout layout)
{
    return layout == Layout::ChannelsFirst ? 2 : 1;
}

} // namespace halftone::ops
