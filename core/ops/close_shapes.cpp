#include "core/ops/close_shapes.h"

#include "core/ops/box_selection.h"
#include "core/ops/tensor_list.h"
#include "core/tensor/elements.h"

#include <algorithm>

namespace halftone::ops {
namespace {

using tensor::Shape;
using tensor::Tensor;

template <class Real>
std::vector<Real> valuesOf(const Tensor &tensor)
{
    std::vector<Real> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

std::int64_t nonZeros(const Tensor &tensor)
{
    return std::ranges::count_if(valuesOf<double>(tensor), [](double value) { return value != 0; });
}

void setExtent(Shape &shape, std::int64_t axis, std::int64_t extent)
{
    const std::int64_t at = axis < 0 ? axis + static_cast<std::int64_t>(shape.rank()) : axis;
    if (shape.hasRank() && at >= 0 && at < static_cast<std::int64_t>(shape.rank()))
        shape[static_cast<std::size_t>(at)] = extent;
}

/// Of what does not go together it is empty; the kernel tells why.
Shape shapeOf(const TensorList &op, std::span<const Tensor> inputs)
{
    std::vector<TypedBytes> given;
    for (const Tensor &input : inputs)
        given.push_back({input.dtype(), input.shape(), input.bytes()});
    const auto result = ListResult::of(op, given);
    return result.ok() ? result.value().shape(given.empty() ? op.type : given[0].type) : Shape{0};
}

} // namespace

void closeShapes(const Operator &op, std::span<const Tensor> inputs, std::span<Shape> outputs)
{
    if (outputs.empty())
        return;
    if (const auto *list = op.getIf<TensorList>())
        outputs[0] = shapeOf(*list, inputs);
    if (inputs.empty())
        return;
    if (op.is<NonZero>())
        setExtent(outputs[0], 1, nonZeros(inputs[0]));
    if (inputs.size() < 2)
        return;
    if (const auto *compress = op.getIf<Compress>())
        setExtent(outputs[0], compress->axis.value_or(0), nonZeros(inputs[1]));
    if (const auto *boxes = op.getIf<NonMaxSuppression>(); boxes && inputs[1].shape().rank() == 3)
        setExtent(outputs[0], 0,
                  static_cast<std::int64_t>(selectBoxes(*boxes, valuesOf<float>(inputs[0]),
                                                        valuesOf<float>(inputs[1]), inputs[1].shape())
                                                .size()));
}

} // namespace halftone::ops
