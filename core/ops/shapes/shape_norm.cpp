#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

/// Inputs first to last are vectors of `length`.
Result<void> setVectors(ShapeSlots &slots, std::size_t first, std::size_t last, Dim length)
{
    for (std::size_t i = first; i <= last; ++i)
        HALFTONE_CHECK(slots.setInput(i, {length}));
    return {};
}

Result<void> setStatistics(ShapeSlots &slots, const std::vector<Dim> &dims)
{
    HALFTONE_CHECK(slots.setOutput(1, dims));
    return slots.setOutput(2, dims);
}

Result<void> needRankOf(const ShapeSlots &slots, std::size_t least)
{
    if (slots.input(0).rank() < least)
        return slots.wrongInput(0, "rank " + std::to_string(least) + " or more");
    return {};
}

} // namespace

Result<void> infer(const BatchNormalization &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size()));
    for (std::size_t i = 1; i < 5 && !dims[axis].isKnown(); ++i) {
        if (slots.input(i).hasRank() && slots.input(i).rank() == 1)
            dims[axis] = Dim::of(slots.input(i)[0]);
    }
    HALFTONE_CHECK(slots.setInput(0, dims));
    HALFTONE_CHECK(setVectors(slots, 1, 4, dims[axis]));
    HALFTONE_CHECK(slots.unify(0, 0));
    return setStatistics(slots, {dims[axis]});
}

Result<void> infer(const LayerNormalization &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size()));
    if (op.oneAxis) {
        HALFTONE_CHECK(setVectors(slots, 1, 2, dims[axis]));
        dims[axis] = 1;
        return setStatistics(slots, dims);
    }
    for (std::size_t i = 1; i < (op.hasBeta ? 3U : 2U); ++i) {
        HALFTONE_TRY(const tensor::Shape both, broadcast(slots.input(0), slots.input(i)));
        HALFTONE_CHECK(slots.setOutput(0, both));
    }
    std::fill(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.end(), Dim(1));
    return setStatistics(slots, dims);
}

Result<void> infer(const GroupNormalization &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("groups", op.groups, 1));
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!op.perChannel)
        HALFTONE_CHECK(setVectors(slots, 1, 2, op.groups));
    if (!slots.input(0).hasRank())
        return {};
    HALFTONE_CHECK(needRankOf(slots, op.perChannel ? 2 : 3));
    const std::vector<Dim> dims = dimsOf(slots.input(0));
    if (op.perChannel)
        HALFTONE_CHECK(setVectors(slots, 1, 2, dims[1]));
    if (dims[1].isKnown() && dims[1].value() % op.groups != 0)
        return slots.wrongInput(0, "channels in a multiple of " + std::to_string(op.groups) + " groups");
    return setStatistics(slots, {dims[0], Dim(op.groups)});
}

Result<void> infer(const InstanceNormalization &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!slots.input(0).hasRank())
        return {};
    HALFTONE_CHECK(needRankOf(slots, 3));
    const std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_CHECK(setVectors(slots, 1, 2, dims[1]));
    return setStatistics(slots, {dims[0], dims[1]});
}

Result<void> infer(const LpNormalization &op, ShapeSlots &slots)
{
    if (op.p != 1 && op.p != 2)
        return badAttribute("p", std::to_string(op.p), "1 or 2");
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!slots.input(0).hasRank())
        return {};
    HALFTONE_CHECK(needRankOf(slots, static_cast<std::size_t>(op.leastRank)));
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size() + (op.toEnd ? 1 : 0)));
    if (op.toEnd)
        dims.resize(axis, 1);
    else
        dims[axis] = 1;
    return slots.setOutput(1, dims);
}

Result<void> infer(const BatchNormTraining &op, ShapeSlots &slots)
{
    return infer(BatchNormalization{.epsilon = op.epsilon, .momentum = op.momentum}, slots);
}

Result<void> infer(const MeanVarianceNormalization &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (slots.input(0).hasRank())
        HALFTONE_CHECK(resolveAxes(op.axes, slots.input(0).rank()));
    return {};
}

Result<void> infer(const LRN &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("size", op.size, 1));
    HALFTONE_CHECK(slots.unify(0, 0));
    return slots.setOutput(1, slots.input(0));
}

} // namespace halftone::ops
