#include "core/ops/shape_rules.h"

#include <cmath>

namespace halftone::ops {
namespace {

void append(std::vector<Dim> &to, const tensor::Shape &shape, std::size_t first, std::size_t end)
{
    for (std::size_t axis = first; axis < end; ++axis)
        to.push_back(Dim::of(shape[axis]));
}

} // namespace

Result<void> infer(const Gather &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    const tensor::Shape &indices = slots.input(1);
    if (!data.hasRank())
        return {};
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, data.rank()));
    if (!indices.hasRank())
        return {};
    std::vector<Dim> dims;
    append(dims, data, 0, axis);
    append(dims, indices, 0, indices.rank());
    append(dims, data, axis + 1, data.rank());
    return slots.setOutput(0, dims);
}

Result<void> infer(const ScatterIntoZeros &op, ShapeSlots &slots)
{
    return slots.setOutput(0, std::vector<Dim>(op.shape.begin(), op.shape.end()));
}

Result<void> infer(const Pick &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size()));
    // Of a vector, one element stays, which the formats we know write as (1,).
    if (op.keepDims || dims.size() == 1)
        dims[axis] = 1;
    else
        dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    return slots.setOutput(0, dims);
}

Result<void> infer(const BatchTake &, ShapeSlots &slots)
{
    return slots.unify(1, 0);
}

Result<void> infer(const OneHot &op, ShapeSlots &slots)
{
    if (!op.hasValues)
        HALFTONE_CHECK(needAtLeast("depth", op.depth, 0));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size() + 1));
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), Dim(op.depth));
    return slots.setOutput(0, dims);
}

Result<void> infer(const Sequence &op, ShapeSlots &slots)
{
    if (op.axis != 0 && op.axis != 1)
        return badAttribute("axis", std::to_string(op.axis), "0 or 1");
    if (!slots.input(0).hasRank())
        return slots.unify(0, 0);
    if (slots.input(0).rank() < 2)
        return slots.wrongInput(0, "rank 2 or more");
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (op.useLength)
        HALFTONE_CHECK(slots.setInput(1, {dims[op.axis == 0 ? 1 : 0]}));
    if (op.kind != Sequence::Kind::Last)
        return slots.unify(0, 0);
    dims.erase(dims.begin() + op.axis);
    return slots.setOutput(0, dims);
}

Result<void> infer(const ShapeOf &op, ShapeSlots &slots)
{
    if (op.count)
        return slots.setOutput(0, op.isScalar ? std::vector<Dim>() : std::vector<Dim>{Dim(1)});
    if (!slots.input(0).hasRank())
        return {};
    const auto [begin, end] = op.axes(slots.input(0).rank());
    return slots.setOutput(0, {Dim(static_cast<std::int64_t>(end - begin))});
}

Result<void> infer(const Fill &op, ShapeSlots &slots)
{
    std::vector<Dim> dims;
    for (const std::int64_t dim : op.shape)
        dims.push_back(Dim::of(dim));
    return slots.setOutput(0, dims);
}

Result<void> infer(const Range &op, ShapeSlots &slots)
{
    constexpr double kMost = 9007199254740992.0;
    if (op.inferLength && !op.stop)
        return slots.setOutput(0, {Dim::unknown()});
    HALFTONE_CHECK(needAtLeast("repeat", op.repeat, 1));
    const double begin = op.stop ? op.start : 0;
    const double end = op.stop.value_or(op.start);
    const double steps = std::ceil((end - begin) / op.step);
    if (op.mayBeEmpty && steps <= 0)
        return slots.setOutput(0, {Dim(0)});
    // Written so that a NaN fails too.
    if (!(steps > 0 && steps < kMost))
        return badAttribute(
            "range", std::to_string(begin) + " to " + std::to_string(end) + " by " + std::to_string(op.step),
            "one step or more");
    return slots.setOutput(0, {Dim(static_cast<std::int64_t>(steps)) * op.repeat});
}

Result<void> infer(const RangeLike &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    HALFTONE_CHECK(needAtLeast("repeat", op.repeat, 1));
    if (!data.hasRank())
        return {};
    if (!op.axis)
        return slots.setOutput(0, tensor::Shape(data));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(*op.axis, data.rank()));
    return slots.setOutput(0, {Dim::of(data[axis])});
}

} // namespace halftone::ops
