#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

std::optional<std::int64_t> at(const OptionalDims &values, std::size_t i)
{
    return i < values.size() ? values[i] : std::nullopt;
}

/// Number of elements that begin:end:step takes from an extent; the extent is known and not negative, the step not 0.
/// beginsInside  as Slice::beginsInside
std::int64_t sliceLength(std::int64_t extent, std::optional<std::int64_t> begin,
                         std::optional<std::int64_t> end, std::int64_t step, bool beginsInside)
{
    if (extent == 0)
        return 0;
    const bool forward = step > 0;
    const std::int64_t low = forward ? 0 : -1;
    const std::int64_t high = forward ? extent : extent - 1;
    const auto clamped = [&](std::int64_t position) {
        return std::clamp(position < 0 ? position + extent : position, low, high);
    };
    std::int64_t first = begin ? clamped(*begin) : forward ? 0 : extent - 1;
    if (beginsInside)
        first = std::max<std::int64_t>(first, 0);
    const std::int64_t last = end ? clamped(*end) : forward ? extent : -1;
    const std::int64_t distance = forward ? last - first : first - last;
    if (distance <= 0)
        return 0;
    // Divided by the negative, since -step does not exist for the smallest step.
    const std::int64_t whole = forward ? (distance - 1) / step : -((distance - 1) / step);
    return whole + 1;
}

/// Of a slice that must lie inside the extent, which may be unknown. fails: it does not, or holds nothing
Result<Dim> lengthInside(Dim extent, std::int64_t from, std::optional<std::int64_t> to, std::size_t axis)
{
    const Dim begin = from < 0 ? extent + from : Dim(from);
    const Dim end = !to ? extent : *to < 0 ? extent + *to : Dim(*to);
    const bool outside = (begin.isKnown() && begin.value() < 0)
        || (end.isKnown() && extent.isKnown() && end.value() > extent.value());
    const Dim length = end - begin;
    if (outside || begin.isOutOfRange() || end.isOutOfRange() || (length.isKnown() && length.value() < 1))
        return badAttribute("slice", std::to_string(from) + " to " + (to ? std::to_string(*to) : "the end"),
                            "a range inside axis " + std::to_string(axis) + ", which has "
                                + std::to_string(extent.orUnknown()) + " elements");
    return length;
}

} // namespace

Result<void> infer(const Slice &op, ShapeSlots &slots)
{
    const std::size_t count = op.begin.size();
    if (op.end.size() != count || (!op.step.empty() && op.step.size() != count)
        || (op.axes && op.axes->size() != count))
        return badAttribute("slice",
                            std::to_string(count) + " begins, " + std::to_string(op.end.size()) + " ends, "
                                + std::to_string(op.step.size()) + " steps",
                            "the same number of each, one per axis");
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (!op.axes && count > dims.size())
        return slots.wrongInput(0, "rank " + std::to_string(count) + " or more");
    if (op.axes)
        HALFTONE_CHECK(resolveAxes(*op.axes, dims.size()));
    for (std::size_t i = 0; i < count; ++i) {
        HALFTONE_TRY(const std::size_t axis,
                     resolveAxis(op.axes ? (*op.axes)[i] : static_cast<std::int64_t>(i), dims.size()));
        const std::int64_t step = at(op.step, i).value_or(1);
        if (step == 0)
            return badAttribute("step", "0", "another number");
        if (op.isInside) {
            HALFTONE_TRY(dims[axis], lengthInside(dims[axis], op.begin[i].value_or(0), op.end[i], axis));
        } else if (dims[axis].isKnown()) {
            dims[axis] = sliceLength(dims[axis].value(), op.begin[i], op.end[i], step, op.beginsInside);
        }
    }
    return slots.setOutput(0, dims);
}

Result<void> infer(const SliceLike &op, ShapeSlots &slots)
{
    const tensor::Shape &like = slots.input(1);
    if (!slots.input(0).hasRank() || !like.hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (op.axes.empty())
        HALFTONE_CHECK(slots.needRank(1, dims.size()));
    const std::size_t count = op.axes.empty() ? dims.size() : op.axes.size();
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t axis = op.axes.empty() ? static_cast<std::int64_t>(i) : op.axes[i];
        HALFTONE_TRY(const std::size_t own, resolveAxis(axis, dims.size()));
        HALFTONE_TRY(const std::size_t other, resolveAxis(axis, like.rank()));
        const Dim extent = Dim::of(like[other]);
        if (extent.isKnown() && dims[own].isKnown() && extent.value() > dims[own].value())
            return slots.wrongInput(
                1, "at most " + std::to_string(dims[own].value()) + " on axis " + std::to_string(other));
        dims[own] = extent;
    }
    return slots.setOutput(0, dims);
}

} // namespace halftone::ops
