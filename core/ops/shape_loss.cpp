#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

bool fits(const tensor::Shape &shape, const std::vector<Dim> &dims)
{
    if (shape.rank() != dims.size())
        return false;
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (shape[axis] >= 0 && dims[axis].isKnown() && dims[axis].value() != shape[axis])
            return false;
    }
    return true;
}

std::vector<Dim> without(std::vector<Dim> dims, std::size_t axis)
{
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    return dims;
}

/// Gives input 1 the first of the shapes that it may have and does not contradict.
Result<void> setLabel(ShapeSlots &slots, const std::vector<std::vector<Dim>> &choices)
{
    const tensor::Shape &label = slots.input(1);
    const auto choice = label.hasRank()
        ? std::ranges::find_if(choices, [&](const auto &dims) { return fits(label, dims); })
        : choices.begin();
    if (choice == choices.end())
        return slots.wrongInput(1, "a label for data of shape " + slots.input(0).toString());
    return slots.setInput(1, *choice);
}

} // namespace

Result<void> infer(const Softmax &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!slots.input(0).hasRank())
        return {};
    const std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size()));
    return op.useLength ? slots.setInput(1, without(dims, axis)) : Result<void>();
}

Result<void> infer(const SoftmaxActivation &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const SoftmaxOutput &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank() || data.rank() < 2)
        return {};
    const std::vector<Dim> dims = dimsOf(data);
    if (!op.multiOutput)
        return setLabel(slots, {without(dims, dims.size() - 1), dims});
    std::vector<Dim> single = dims;
    single[1] = 1;
    return setLabel(slots, {{dims[0], product(data, 2, data.rank())}, without(dims, 1), single, dims});
}

Result<void> infer(const RegressionOutput &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    if (const tensor::Shape &label = slots.input(1); label.hasRank()) {
        const std::optional<std::int64_t> labels = label.elementCount();
        const std::optional<std::int64_t> elements = data.elementCount();
        if (labels && elements && *labels != *elements)
            return slots.wrongInput(1, "as many elements as data of shape " + data.toString());
        return {};
    }
    const bool column = data.rank() == 2 && data[1] == 1;
    const bool open = data.rank() == 2 && data[1] < 0;
    if (open)
        return {};
    return column ? slots.setInput(1, {Dim::of(data[0])}) : slots.setInput(1, tensor::Shape(data));
}

Result<void> infer(const LossOutput &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const SoftmaxCrossEntropy &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.needRank(0, 2));
    HALFTONE_CHECK(slots.setInput(1, {dimsOr(slots.input(0), 2)[0]}));
    return slots.setOutput(0, {Dim(1)});
}

} // namespace halftone::ops
