#include "core/ops/shape_rules.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace halftone::ops {

Result<void> infer(const Unsqueeze &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::vector<std::size_t> axes, resolveAxes(op.axes, dims.size() + op.axes.size()));
    for (const std::size_t axis : axes)
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    return slots.setOutput(0, dims);
}

Result<void> infer(const Squeeze &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank() || (!op.axes && !data.isComplete()))
        return {};
    std::vector<bool> gone(data.rank());
    if (op.axes) {
        HALFTONE_TRY(const std::vector<std::size_t> axes, resolveAxes(*op.axes, data.rank()));
        for (const std::size_t axis : axes) {
            if (data[axis] >= 0 && data[axis] != 1)
                return slots.wrongInput(0, "1 on axis " + std::to_string(axis) + ", which is dropped");
            gone[axis] = true;
        }
    } else {
        for (std::size_t axis = 0; axis < data.rank(); ++axis)
            gone[axis] = data[axis] == 1;
    }
    std::vector<Dim> dims;
    for (std::size_t axis = 0; axis < data.rank(); ++axis) {
        if (!gone[axis])
            dims.push_back(Dim::of(data[axis]));
    }
    if (dims.empty() && op.atLeastRank1)
        dims.push_back(1);
    return slots.setOutput(0, dims);
}

Result<void> infer(const Transpose &op, ShapeSlots &slots)
{
    const tensor::Shape &known = slots.input(0).hasRank() ? slots.input(0) : slots.output(0);
    if (!known.hasRank())
        return {};
    const std::size_t rank = known.rank();
    std::vector<std::size_t> order(rank);
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    if (!op.axes.empty()) {
        HALFTONE_TRY(const std::vector<std::size_t> distinct, resolveAxes(op.axes, rank));
        if (distinct.size() != rank || std::ranges::min(op.axes) < 0)
            return badAttribute("axes", std::to_string(distinct.size()) + " axes",
                                "each of the " + std::to_string(rank) + " once");
        std::ranges::transform(op.axes, order.begin(),
                               [](std::int64_t axis) { return static_cast<std::size_t>(axis); });
    }
    const std::vector<Dim> input = dimsOr(slots.input(0), rank);
    std::vector<Dim> forward;
    forward.reserve(rank);
    for (const std::size_t axis : order)
        forward.push_back(input[axis]);
    HALFTONE_CHECK(slots.setOutput(0, forward));
    if (slots.outputCount() == 0)
        return {};
    std::vector<Dim> backward(rank, Dim::unknown());
    for (std::size_t i = 0; i < rank; ++i)
        backward[order[i]] = Dim::of(slots.output(0)[i]);
    return slots.setInput(0, backward);
}

Result<void> infer(const SwapAxes &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t first, resolveAxis(op.first, dims.size()));
    HALFTONE_TRY(const std::size_t second, resolveAxis(op.second, dims.size()));
    std::swap(dims[first], dims[second]);
    return slots.setOutput(0, dims);
}

Result<void> infer(const Reverse &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (slots.input(0).hasRank())
        HALFTONE_CHECK(resolveAxes(op.axes, slots.input(0).rank()));
    return {};
}

Result<void> infer(const DepthToSpace &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("block", op.block, 1));
    HALFTONE_CHECK(slots.needRank(0, 4));
    const std::vector<Dim> dims = dimsOr(slots.input(0), 4);
    const Dim area = Dim(op.block) * op.block;
    if (area.isOutOfRange() || (dims[1].isKnown() && dims[1].value() % area.value() != 0))
        return slots.wrongInput(0, "channels in a multiple of the block's area");
    return slots.setOutput(0, {dims[0], dims[1] / area, dims[2] * op.block, dims[3] * op.block});
}

Result<void> infer(const SpaceToDepth &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("block", op.block, 1));
    HALFTONE_CHECK(slots.needRank(0, 4));
    const std::vector<Dim> dims = dimsOr(slots.input(0), 4);
    for (const std::size_t axis : {2, 3}) {
        if (dims[axis].isKnown() && dims[axis].value() % op.block != 0)
            return slots.wrongInput(0, "extents in a multiple of the block, " + std::to_string(op.block));
    }
    return slots.setOutput(0,
                           {dims[0], dims[1] * op.block * op.block, dims[2] / op.block, dims[3] / op.block});
}

} // namespace halftone::ops
