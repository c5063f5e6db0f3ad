#pragma once

#include "core/ops/op_types.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

/// Operators that put elements elsewhere without computing with them. Negative axes count from the end.
namespace halftone::ops {

struct Concat
{
    std::int64_t axis = 1;
    std::int64_t inputs = 0;
    bool rnnParameters = false; ///< joins the parts of the parameter vector of a Recurrence

    bool operator==(const Concat &) const = default;
};

/// Joins along a new axis.
struct Stack
{
    std::int64_t axis = 0;
    std::int64_t inputs = 0;

    bool operator==(const Stack &) const = default;
};

/// Cuts along an axis: into `sections` equal parts, or at `indices` (the begin of each part, the first is 0).
struct Split
{
    std::int64_t axis = 1;
    std::int64_t sections = 0; ///< 0: `indices` holds
    Dims indices{};
    Dims sizes{}; ///< not empty: the lengths of the parts instead
    bool squeezeAxis = false; ///< drops the axis, whose parts are 1 long
    bool uneven = false; ///< sections need not divide the extent: the first ones are one longer
    bool roundUp = false; ///< the same, but all are ceil(extent / sections) long and the last is what is left

    bool operator==(const Split &) const = default;
};

/// Codes of `shape`: n > 0 literal, 0 copies the input's dimension, -1 is what is left, -2 copies all the
/// rest, -3 is the product of two, -4 a b splits one into a × b (one of which may be -1).
struct Reshape
{
    Dims shape{};
    bool reverse = false; ///< codes and dimensions are read from the end
    bool zeroIsExtent = false; ///< 0 is an extent like others

    bool operator==(const Reshape &) const = default;
};

/// To (product of the axes before `axis`, product of the others).
struct Flatten
{
    std::int64_t axis = 1; ///< from -rank to rank

    bool operator==(const Flatten &) const = default;
};

/// Axes of 1, numbered as in the result.
struct Unsqueeze
{
    Dims axes{};

    bool operator==(const Unsqueeze &) const = default;
};

struct Squeeze
{
    std::optional<Dims> axes{}; ///< nothing: all that are 1
    bool atLeastRank1 = false;

    bool operator==(const Squeeze &) const = default;
};

struct Transpose
{
    Dims axes{}; ///< empty: reversed

    bool operator==(const Transpose &) const = default;
};

struct SwapAxes
{
    std::int64_t first = 0;
    std::int64_t second = 0;

    bool operator==(const SwapAxes &) const = default;
};

/// Python's slices of some axes: ends beyond the extent are cut to it.
struct Slice
{
    std::optional<Dims> axes{}; ///< nothing: the leading ones
    OptionalDims begin{};
    OptionalDims end{};
    OptionalDims step{}; ///< empty: all 1
    /// Of one axis with a step of 1: ends beyond the extent and slices of nothing are errors.
    bool isInside = false;
    /// Backwards, a begin before the first element is the first element, as ONNX has it; Python takes nothing then.
    bool beginsInside = false;

    bool operator==(const Slice &) const = default;
};

/// Cuts input 0 to input 1's extents on `axes` (empty: all, the ranks are equal).
struct SliceLike
{
    Dims axes{};

    bool operator==(const SliceLike &) const = default;
};

struct Pad
{
    enum class Mode : std::uint8_t { Constant, Edge, Reflect, Wrap } mode = Mode::Constant;
    Dims widths{}; ///< (before, after) of each axis; negative ones cut
    double value = 0; ///< Constant

    bool operator==(const Pad &) const = default;
};

struct Tile
{
    Dims repeats{}; ///< from the last axis on

    bool operator==(const Tile &) const = default;
};

/// Each element `repeats` times, along an axis or over all of them in one vector.
struct Repeat
{
    std::int64_t repeats = 1;
    std::optional<std::int64_t> axis{};

    bool operator==(const Repeat &) const = default;
};

struct Reverse
{
    Dims axes{};

    bool operator==(const Reverse &) const = default;
};

/// Stretches the input and `shape` to each other, as Binary does its inputs.
struct Expand
{
    Dims shape{};
    /// Only the input stretches, to a shape of its rank, in which 0 keeps the input's dimension.
    bool keepsRank = false;

    bool operator==(const Expand &) const = default;
};

struct BroadcastAxes
{
    Dims axes{};
    Dims sizes{};

    bool operator==(const BroadcastAxes &) const = default;
};

/// Stretches input 0 to input 1's shape; with axes, only those of input 0 to those of input 1.
struct BroadcastLike
{
    std::optional<Dims> axes{};
    std::optional<Dims> likeAxes{};

    bool operator==(const BroadcastLike &) const = default;
};

/// Reshapes input 0 to input 1's shape; with ranges, axes [begin, end) of input 0 become [likeBegin, likeEnd)
/// of input 1.
struct ReshapeLike
{
    std::optional<std::int64_t> begin{};
    std::optional<std::int64_t> end{};
    std::optional<std::int64_t> likeBegin{};
    std::optional<std::int64_t> likeEnd{};

    bool operator==(const ReshapeLike &) const = default;
};

struct DepthToSpace
{
    std::int64_t block = 1;
    bool depthFirst = false; ///< channels are (depth, block, block), otherwise (block, block, depth)

    bool operator==(const DepthToSpace &) const = default;
};

struct SpaceToDepth
{
    std::int64_t block = 1;

    bool operator==(const SpaceToDepth &) const = default;
};

/// What happens to an index beyond the end.
enum class IndexMode : std::uint8_t
{
    Clip,
    Wrap,
    Raise
};

/// Inputs: data, indices; the indices' shape takes the place of the axis.
struct Gather
{
    std::int64_t axis = 0;
    IndexMode mode = IndexMode::Clip;

    bool operator==(const Gather &) const = default;
};

struct ScatterIntoZeros
{
    Dims shape{};

    bool operator==(const ScatterIntoZeros &) const = default;
};

/// One element along the axis for every place. Inputs: data, indices (data's shape without the axis).
struct Pick
{
    std::int64_t axis = -1;
    bool keepDims = false;
    IndexMode mode = IndexMode::Clip;

    bool operator==(const Pick &) const = default;
};

/// data[i, indices[i]].
struct BatchTake
{
    bool operator==(const BatchTake &) const = default;
};

/// A new axis of `depth`, `on` where the index says, `off` elsewhere. Inputs: indices[, depth, values (off, on)].
struct OneHot
{
    std::int64_t axis = -1; ///< in the result
    std::int64_t depth = 0;
    bool hasValues
        = false; ///< the inputs are there, and negative indices count from the end; otherwise these are off everywhere
    double on = 1; ///< not hasValues
    double off = 0;
    DType dtype = DType::F32;

    bool operator==(const OneHot &) const = default;
};

/// On (T, N, …) or (N, T, …). Inputs: data, [lengths (N)].
struct Sequence
{
    enum class Kind : std::uint8_t { Mask, Last, Reverse } kind = Kind::Mask;
    std::int64_t axis = 0; ///< of T
    bool useLength = false;
    double value = 0; ///< Mask: what stands beyond the length

    bool operator==(const Sequence &) const = default;
};

/// The input's shape as a vector, or its number of elements.
struct ShapeOf
{
    bool count = false;
    bool isScalar = false; ///< count: of rank 0 instead of (1)
    std::int64_t begin = 0; ///< Python's slice of the shape
    std::optional<std::int64_t> end{};

    /// The axes whose extents are shown: [first, second).
    std::pair<std::size_t, std::size_t> axes(std::size_t rank) const
    {
        const auto size = static_cast<std::int64_t>(rank);
        const auto position = [size](std::int64_t value) {
            return static_cast<std::size_t>(
                std::clamp<std::int64_t>(value < 0 ? value + size : value, 0, size));
        };
        const std::size_t first = position(begin);
        return {first, std::max(first, position(end.value_or(size)))};
    }

    bool operator==(const ShapeOf &) const = default;
};

/// A tensor of one value, without inputs.
struct Fill
{
    enum class Kind : std::uint8_t { Zeros, Ones, Value } kind = Kind::Zeros;
    Dims shape{}; ///< -1: unknown
    double value = 0; ///< Kind::Value
    DType dtype = DType::F32;

    bool operator==(const Fill &) const = default;
};

/// start, start + step, … below stop; without a stop: 0 … below start. Each value `repeat` times.
struct Range
{
    bool mayBeEmpty = false; ///< otherwise a range of nothing is an error
    double start = 0;
    std::optional<double> stop{};
    double step = 1;
    std::int64_t repeat = 1;
    bool inferLength = false; ///< as long as the consumer asks
    DType dtype = DType::F32;

    bool operator==(const Range &) const = default;
};

/// A range as long as the input, or as its axis.
struct RangeLike
{
    double start = 0;
    double step = 1;
    std::int64_t repeat = 1;
    std::optional<std::int64_t> axis{};

    bool operator==(const RangeLike &) const = default;
};

} // namespace halftone::ops
