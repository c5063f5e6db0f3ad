#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

/// Stretches one dimension, which must be 1 or equal already.
Result<void> stretch(const ShapeSlots &slots, std::vector<Dim> &dims, std::size_t axis, Dim to)
{
    const Dim from = dims[axis];
    if (from.isKnown() && to.isKnown() && from.value() != 1 && from.value() != to.value())
        return slots.wrongInput(0, "1 or " + std::to_string(to.value()) + " on axis " + std::to_string(axis));
    if (!to.isKnown() && from.isKnown() && from.value() != 1)
        return {};
    dims[axis] = to;
    return {};
}

Result<void> inferKeptRank(const Expand &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.needRank(0, op.shape.size()));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        HALFTONE_CHECK(needAtLeast("shape", op.shape[axis], 0));
        if (op.shape[axis] != 0)
            HALFTONE_CHECK(stretch(slots, dims, axis, op.shape[axis]));
    }
    return slots.setOutput(0, dims);
}

} // namespace

Result<void> infer(const Pad &op, ShapeSlots &slots)
{
    if (op.widths.size() % 2 != 0 || op.widths.size() > 2 * kMaxRank)
        return badAttribute("widths", std::to_string(op.widths.size()) + " values", "two for each axis");
    HALFTONE_CHECK(slots.needRank(0, op.widths.size() / 2));
    std::vector<Dim> dims = dimsOr(slots.input(0), op.widths.size() / 2);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        const std::int64_t before = op.widths[2 * axis];
        const std::int64_t after = op.widths[2 * axis + 1];
        const bool copies = op.mode != Pad::Mode::Constant && op.mode != Pad::Mode::Wrap;
        if (op.mode == Pad::Mode::Wrap && dims[axis].isKnown() && dims[axis].value() == 0
            && std::max(before, after) > 0)
            return slots.wrongInput(0, "something to repeat on axis " + std::to_string(axis));
        if (copies && std::min(before, after) < 0)
            return badAttribute("widths", std::to_string(std::min(before, after)), "0 or more in this mode");
        if (op.mode == Pad::Mode::Reflect && dims[axis].isKnown()
            && std::max(before, after) >= std::max<std::int64_t>(dims[axis].value(), 1))
            return slots.wrongInput(0, "more than what is mirrored on axis " + std::to_string(axis));
        dims[axis] = dims[axis] + before + after;
    }
    return slots.setOutput(0, dims);
}

Result<void> infer(const Tile &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (op.repeats.size() > kMaxRank)
        return badAttribute("repeats", std::to_string(op.repeats.size()) + " values", "at most 32");
    if (op.repeats.size() > dims.size())
        dims.insert(dims.begin(), op.repeats.size() - dims.size(), 1);
    const std::size_t first = dims.size() - op.repeats.size();
    for (std::size_t i = 0; i < op.repeats.size(); ++i)
        dims[first + i] = dims[first + i] * op.repeats[i];
    return slots.setOutput(0, dims);
}

Result<void> infer(const Repeat &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    HALFTONE_CHECK(needAtLeast("repeats", op.repeats, 1));
    if (!data.hasRank())
        return {};
    if (!op.axis)
        return slots.setOutput(0, {product(data, 0, data.rank()) * op.repeats});
    std::vector<Dim> dims = dimsOf(data);
    HALFTONE_TRY(const std::size_t axis, resolveAxis(*op.axis, dims.size()));
    dims[axis] = dims[axis] * op.repeats;
    return slots.setOutput(0, dims);
}

Result<void> infer(const Expand &op, ShapeSlots &slots)
{
    if (op.keepsRank)
        return inferKeptRank(op, slots);
    if (op.shape.size() > kMaxRank
        || std::ranges::any_of(op.shape, [](std::int64_t dim) { return dim < -1; }))
        return badAttribute("shape", std::to_string(op.shape.size()) + " values",
                            "at most 32 values, each 0 or more");
    HALFTONE_TRY(const tensor::Shape output, broadcast(slots.input(0), tensor::Shape(op.shape)));
    return slots.setOutput(0, output);
}

Result<void> infer(const BroadcastAxes &op, ShapeSlots &slots)
{
    if (op.axes.size() != op.sizes.size())
        return badAttribute("sizes", std::to_string(op.sizes.size()) + " values",
                            std::to_string(op.axes.size()) + ", one for each axis");
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    for (std::size_t i = 0; i < op.axes.size(); ++i) {
        HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axes[i], dims.size()));
        if (dims[axis].isKnown() && dims[axis].value() != 1)
            return slots.wrongInput(0, "1 on axis " + std::to_string(axis));
        dims[axis] = op.sizes[i];
    }
    return slots.setOutput(0, dims);
}

Result<void> infer(const BroadcastLike &op, ShapeSlots &slots)
{
    const tensor::Shape &like = slots.input(1);
    if (op.axes.has_value() != op.likeAxes.has_value() || (op.axes && op.axes->size() != op.likeAxes->size()))
        return badAttribute("axes", "other axes for one input than for the other", "equally many");
    if (!slots.input(0).hasRank() || !like.hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (!op.axes)
        HALFTONE_CHECK(slots.needRank(1, dims.size()));
    const std::size_t count = op.axes ? op.axes->size() : dims.size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto same = static_cast<std::int64_t>(i);
        HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axes ? (*op.axes)[i] : same, dims.size()));
        HALFTONE_TRY(const std::size_t other, resolveAxis(op.axes ? (*op.likeAxes)[i] : same, like.rank()));
        HALFTONE_CHECK(stretch(slots, dims, axis, Dim::of(like[other])));
    }
    return slots.setOutput(0, dims);
}

} // namespace halftone::ops
