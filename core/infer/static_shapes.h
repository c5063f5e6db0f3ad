#pragma once

#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/infer/infer_shapes.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace halftone::infer {

/// A whole number that follows from shapes and constants, as far as it does.
struct StaticNumber
{
    std::optional<std::int64_t> value{}; ///< nothing: not known
    graph::Entry tensor{}; ///< of an extent that is not known: whose it is
    std::optional<std::size_t> axis{}; ///< which of the tensor's; nothing: it is no extent

    bool operator==(const StaticNumber &) const = default;
};

/// What a tensor of no or one axis holds.
struct StaticNumbers
{
    std::vector<StaticNumber> values;
    bool isScalar = false;
    bool isWhole = true; ///< held as integers; else as reals, all of them whole

    bool isKnown() const;
    /// As a tensor; nothing where a number is not known, or the type is neither int64 nor an int32 that they fit.
    std::optional<tensor::Tensor> tensorOf(tensor::DType type) const;
};

struct StaticValues
{
    ShapeMap shapes;
    std::vector<std::optional<StaticNumbers>> numbers; ///< by NodeId: in output 0; nothing: not followed
};

/// `shapes` with what arithmetic on shapes says: whole numbers that nodes compute of shapes and constants (Shape, Gather, Slice, Concat,
/// Unsqueeze, sums and products …) are followed element by element, known or not, to the operators that take them as a shape. What is
/// known never changes. Goes once through the main graph, forward; bodies and calls are not looked into.
/// fails  BadInput for shapes that contradict each other (where = the node)
Result<ShapeMap> staticShapes(const graph::Model &model, ShapeMap shapes);
/// The same with the numbers.
Result<StaticValues> staticValues(const graph::Model &model, ShapeMap shapes);

/// staticShapes() of a graph whose variables hold these values.
/// constants  by NodeId; of unknown type where a value is not known
Result<ShapeMap> staticShapes(const graph::Graph &graph, std::span<const tensor::Tensor> constants,
                              ShapeMap shapes);

} // namespace halftone::infer
