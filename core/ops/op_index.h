#pragma once

#include "core/ops/op_move.h"
#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>
#include <vector>

/// More operators on places: writing to some, masks, diagonals, counting.
namespace halftone::ops {

/// Rows of input 0, of which those that the vector (input 1) names are taken from input 2.
struct IndexCopy
{
    bool operator==(const IndexCopy &) const = default;
};

/// Input 0 with a slice replaced: by input 1, or by a number.
struct SliceAssign
{
    Slice slice{};
    bool isScalar = false;
    double value = 0; ///< isScalar

    bool operator==(const SliceAssign &) const = default;
};

/// Input 0 with elements replaced by input 1's, at the places that input 2 lists as GatherND does by rows.
struct ScatterAssign
{
    Dims shape{}; ///< of input 0

    bool operator==(const ScatterAssign &) const = default;
};

/// Of every element its place: data's shape and a last axis, along which the axes stand.
struct IndexArray
{
    std::optional<Dims> axes{}; ///< nothing: all

    bool operator==(const IndexArray &) const = default;
};

/// A diagonal of two axes, which it replaces as the last axis; of a vector, the matrix with that diagonal.
struct Diagonal
{
    std::int64_t offset = 0;
    std::int64_t first = 0;
    std::int64_t second = 1;

    bool operator==(const Diagonal &) const = default;
};

/// Places in a shape as numbers of rows, and back: (axes, n) to (n), or any shape to (axes, shape…). MXNet 1.9.1 gives the
/// latter (axes, first extent) and writes beyond it where there are more axes; this is MXNet 2's.
struct FlatIndex
{
    bool unravel = false;
    std::optional<Dims> shape{};

    bool operator==(const FlatIndex &) const = default;
};

/// How many elements fall between bounds. Outputs: counts, bounds. Inputs: data[, bounds].
struct Histogram
{
    std::optional<std::int64_t> bins{};
    std::vector<double> range{}; ///< with bins: low, high

    bool operator==(const Histogram &) const = default;
};

/// Running sum along an axis; without axis, of all elements as a vector.
struct CumSum
{
    bool product = false; ///< instead of the sum
    bool exclusive = false; ///< without the element itself
    bool reverse = false; ///< from the end
    std::optional<std::int64_t> axis{};
    DType dtype = DType::Unknown; ///< Unknown: as data

    bool operator==(const CumSum &) const = default;
};

/// Ones on a diagonal of a matrix of the input's shape, or, without inputs, of a written one.
struct EyeLike
{
    std::int64_t offset = 0;
    bool hasInput = true;
    std::int64_t rows = 0; ///< not hasInput
    std::int64_t columns = 0; ///< not hasInput; 0: as rows
    DType dtype = DType::F32; ///< not hasInput

    bool operator==(const EyeLike &) const = default;
};

/// `count` numbers at even distances from start to stop.
struct Linspace
{
    double start = 0;
    std::optional<double> stop{};
    std::int64_t count = 0;
    bool endpoint = true; ///< stop is the last of them, otherwise the one that would follow
    DType dtype = DType::F32;

    bool operator==(const Linspace &) const = default;
};

/// a x² + b x + c.
struct Quadratic
{
    double a = 0;
    double b = 0;
    double c = 0;

    bool operator==(const Quadratic &) const = default;
};

/// 1 when no input holds an infinity or NaN, else 0: (1).
struct AllFinite
{
    bool several = false;
    std::int64_t inputs = 1;
    bool initialise = true;

    bool operator==(const AllFinite &) const = default;
};

} // namespace halftone::ops
