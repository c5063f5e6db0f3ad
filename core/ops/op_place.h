#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>

/// Operators that read from or write to places which a tensor names. An index below 0 counts from the end; one outside is an
/// error.
namespace halftone::ops {

/// What happens where something is scattered to a place that holds an element already.
enum class ScatterRule : std::uint8_t
{
    Replace,
    Add,
    Multiply,
    Maximum,
    Minimum
};

/// out[…, i, …] = data[…, indices[…, i, …], …] along the axis. Inputs: data, indices of the same rank.
struct GatherElements
{
    std::int64_t axis = 0;

    bool operator==(const GatherElements &) const = default;
};

/// Slices of data at places which the last axis of the indices spells. Inputs: data, indices. The first `batchAxes` axes
/// of both go together.
struct GatherND
{
    std::int64_t batchAxes = 0;
    bool byRows = false; ///< the first axis of the indices spells them instead; no batch axes then

    bool operator==(const GatherND &) const = default;
};

/// Data with elements of the updates written along an axis. Inputs: data, indices, updates in their shape.
struct ScatterElements
{
    std::int64_t axis = 0;
    ScatterRule rule = ScatterRule::Replace;

    bool operator==(const ScatterElements &) const = default;
};

/// Data with slices of the updates written at places which the last axis of the indices spells. Inputs: data, indices, updates.
struct ScatterND
{
    ScatterRule rule = ScatterRule::Replace;

    bool operator==(const ScatterND &) const = default;
};

/// A cache with the update written along an axis, from where each element of the batch says. Inputs: cache, update[, begins (N)].
struct TensorScatter
{
    std::int64_t axis = -2;
    bool circular = false; ///< goes on at the front behind the end
    bool hasBegins = false;

    bool operator==(const TensorScatter &) const = default;
};

/// The slices along an axis, or the elements of all, at which the condition holds, that is, is not 0; beyond its end it does not. How
/// many is known when it runs. Inputs: data, condition (vector).
struct Compress
{
    std::optional<std::int64_t> axis{};
    bool needsAll = false; ///< the condition has a value for each of them

    bool operator==(const Compress &) const = default;
};

/// Lists of tensors of one type (core/ops/tensor_list.h): what they give is known when it runs. A place is counted from the end where it is
/// negative, and is the end of the list where the input is left out.
struct TensorList
{
    enum class Kind : std::uint8_t {
        Construct, ///< inputs: tensors
        Empty,
        At, ///< list, place; a tensor
        Insert, ///< list, tensor[, place]
        Erase, ///< list[, place]
        Length, ///< list; int64 of rank 0
        Split, ///< tensor[, length of a part, or lengths of all]: slices along an axis
        Join, ///< list; its tensors behind each other along an axis
        Maybe, ///< [a tensor or list]: an optional one, which is the value itself or nothing (nothingShape())
        Has, ///< [an optional value, tensor or list]; whether it is there, a bool of rank 0
        Get ///< an optional value, tensor or list; what is there
    } kind
        = Kind::Construct;
    std::int64_t axis = 0; ///< Split, Join
    bool keepsAxis = true; ///< Split into slices of 1
    bool newAxis = false; ///< Join
    DType type = DType::F32; ///< of an empty list, or of nothing

    bool givesList() const
    {
        return kind != Kind::At && kind != Kind::Length && kind != Kind::Join && !isOfOptional();
    }
    bool isOfOptional() const { return kind == Kind::Maybe || kind == Kind::Has || kind == Kind::Get; }
    bool operator==(const TensorList &) const = default;
};

/// Places of elements that are not 0: (rank, how many), in the order in which they lie.
struct NonZero
{
    bool operator==(const NonZero &) const = default;
};

/// The upper or lower triangle of the last two axes, 0 elsewhere.
struct Trilu
{
    bool upper = true;
    std::int64_t offset = 0; ///< of the diagonal that it begins with

    bool operator==(const Trilu &) const = default;
};

/// Cut or padded with zeros to extents, in equal parts on both sides, the odd one behind.
struct CenterCropPad
{
    std::optional<Dims> axes{}; ///< nothing: all
    Dims extents{};

    bool operator==(const CenterCropPad &) const = default;
};

} // namespace halftone::ops
