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

Result<void> infer(const CtcLoss &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.needRank(0, 3));
    HALFTONE_CHECK(slots.needRank(1, 2));
    const std::vector<Dim> data = dimsOr(slots.input(0), 3);
    const std::vector<Dim> labels = dimsOr(slots.input(1), 2);
    if (data[0].isKnown() && labels[1].isKnown() && labels[1].value() > data[0].value())
        return slots.wrongInput(1, "no more labels than steps in data of shape " + slots.input(0).toString());
    const Dim batch = data[1].isKnown() ? data[1] : labels[0];
    HALFTONE_CHECK(slots.setInput(0, {data[0], batch, data[2]}));
    HALFTONE_CHECK(slots.setInput(1, {batch, labels[1]}));
    const std::size_t lengths = (op.useDataLengths ? 1 : 0) + (op.useLabelLengths ? 1 : 0);
    for (std::size_t i = 0; i < lengths; ++i)
        HALFTONE_CHECK(slots.setInput(2 + i, {batch}));
    HALFTONE_CHECK(slots.setOutput(0, {batch}));
    return slots.setOutput(1, {data[0], batch, data[2]});
}

Result<void> infer(const SvmOutput &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    const tensor::Shape &data = slots.input(0);
    return data.hasRank() && data.rank() > 1 ? slots.setInput(1, without(dimsOf(data), data.rank() - 1))
                                             : Result<void>();
}

Result<void> infer(const SparsityPenalty &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    const tensor::Shape &data = slots.input(0);
    return data.hasRank() && data.rank() > 1 ? slots.setInput(1, {Dim::of(data[1])}) : Result<void>();
}

} // namespace halftone::ops
