#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>
#include <vector>

/// Operators that sample tensors between their elements, and selection of boxes.
namespace halftone::ops {

/// Resizing of any axes, one after the other.
struct Resize
{
    enum class Mode : std::uint8_t { Nearest, Linear, Cubic } mode = Mode::Nearest;
    /// Where in the input the place x of the output lies.
    enum class Places : std::uint8_t {
        HalfPixel, ///< (x + 1/2) / scale - 1/2
        HalfPixelSymmetric, ///< the same, with the middles of both kept together where extents were rounded
        HalfPixelOrZero, ///< the same, but of an output of 1 it is 0
        HalfPixelNearest, ///< (x + 1/2) / scale
        AlignCorners, ///< x · (input - 1) / (output - 1)
        Asymmetric, ///< x / scale
        Region, ///< within `region`
    } places
        = Places::HalfPixel;
    enum class Rounding : std::uint8_t { HalfDown, HalfUp, Down, Up } rounding = Rounding::HalfDown;
    /// How sizes are met that would change the proportions of the axes.
    enum class Proportions : std::uint8_t { Change, KeepWithin, KeepBeyond } proportions = Proportions::Change;
    std::optional<Dims> axes{}; ///< nothing: all
    std::vector<double> scales{}; ///< one for each of the axes; empty: `sizes`
    Dims sizes{};
    std::vector<double> region{}; ///< begins of the axes, then their ends, 1 being the last element
    double cubicCoefficient = -0.75;
    bool excludeOutside = false; ///< neighbours beyond the edge get no weight
    double outside = 0; ///< Places::Region: the value beyond the input
    bool antialias = false;

    bool operator==(const Resize &) const = default;
};

/// Sampling at places within -1 and 1 of each spatial axis. Inputs: data (N, C, D…), grid (N, D'…, axes), the last axis
/// first. Output: (N, C, D'…).
struct GridSample
{
    enum class Mode : std::uint8_t { Nearest, Linear, Cubic } mode = Mode::Linear;
    enum class Outside : std::uint8_t { Zeros, Border, Reflection } outside = Outside::Zeros;
    bool alignCorners
        = false; ///< -1 and 1 are the middles of the corner elements, otherwise their outer edges
    bool axesFirst = false; ///< the grid is (N, axes, D'…); a second output, (N, D'…, axes), is scratch
    /// A place that is not a finite number gives NaN, not 0, and neighbours with weight 0 count.
    bool spreadsNaN = false;

    bool operator==(const GridSample &) const = default;
};

/// The grid for GridSample that affine matrices (N, axes, axes + 1) make: (N, D…, axes).
struct AffineGrid
{
    Dims size{}; ///< (N, C, D…)
    bool alignCorners = false;

    bool operator==(const AffineGrid &) const = default;
};

/// Pooling of regions at points between elements. Inputs: data (N, C, H, W), regions (R, 4) as x1, y1, x2, y2, the batch of
/// each (R).
struct RoiAlign
{
    bool maximum = false; ///< of the four weighted neighbours of all points; otherwise their mean
    std::int64_t height = 1;
    std::int64_t width = 1;
    std::int64_t samples = 0; ///< points an axis of a bin; 0: as many as elements fall into it
    double spatialScale = 1;
    bool halfPixel = true;

    bool operator==(const RoiAlign &) const = default;
};

/// Elements put back to where a maximum pooling took them from. Inputs: data, places[, output shape (in `shape`)].
struct MaxUnpool
{
    Dims kernel{};
    Dims stride{};
    Padding pad{};
    Dims shape{}; ///< empty: what the window gives

    bool operator==(const MaxUnpool &) const = default;
};

/// Non-maximum suppression of each class of each picture. Inputs: boxes (N, boxes, 4), scores (N, classes, boxes), and the
/// numbers below. Output: (selected, 3) of batch, class and box; how many is known when it runs.
struct NonMaxSuppression
{
    bool centred
        = false; ///< boxes are (x, y, width, height) of their middle, otherwise two corners (y, x, y, x)
    std::int64_t mostPerClass = 0;
    double overlapThreshold = 0;
    std::optional<double> scoreThreshold{};

    bool operator==(const NonMaxSuppression &) const = default;
};

} // namespace halftone::ops
