#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

std::optional<std::int64_t> at(const OptionalDims &values, std::size_t i)
{
    return i < values.size() ? values[i] : std::nullopt;
}

/// Number of elements that Python's begin:end:step takes from an extent; the extent is known and not
/// negative, the step not 0.
std::int64_t pythonSliceLength(std::int64_t extent, std::optional<std::int64_t> begin,
                               std::optional<std::int64_t> end, std::int64_t step)
{
    const bool forward = step > 0;
    const std::int64_t low = forward ? 0 : -1;
    const std::int64_t high = forward ? extent : extent - 1;
    const auto clamped = [&](std::int64_t position) {
        return std::clamp(position < 0 ? position + extent : position, low, high);
    };
    const std::int64_t first = begin ? clamped(*begin) : forward ? 0 : extent - 1;
    const std::int64_t last = end ? clamped(*end) : forward ? extent : -1;
    const std::int64_t distance = forward ? last - first : first - last;
    if (distance <= 0)
        return 0;
    // Divided by the negative, since -step does not exist for the smallest step.
    const std::int64_t whole = forward ? (distance - 1) / step : -((distance - 1) / step);
    return whole + 1;
}

} // namespace

Result<void> infer(const Slice &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (op.begin.size() != op.end.size() || (!op.step.empty() && op.step.size() != op.begin.size()))
        return badAttribute("slice",
                            std::to_string(op.begin.size()) + " begins, " + std::to_string(op.end.size())
                                + " ends, " + std::to_string(op.step.size()) + " steps",
                            "equally many");
    if (op.begin.size() > dims.size())
        return slots.wrongInput(0, "rank " + std::to_string(op.begin.size()) + " or more");
    for (std::size_t i = 0; i < op.begin.size(); ++i) {
        const std::int64_t step = at(op.step, i).value_or(1);
        if (step == 0)
            return badAttribute("step", "0", "another number");
        const bool whole = !op.begin[i] && !op.end[i] && (step == 1 || step == -1);
        if (dims[i].isKnown())
            dims[i] = pythonSliceLength(dims[i].value(), op.begin[i], op.end[i], step);
        else if (!whole)
            dims[i] = Dim::unknown();
    }
    return slots.setOutput(0, dims);
}

Result<void> infer(const SliceAxis &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size()));
    const Dim extent = dims[axis];
    const Dim begin = op.begin < 0 ? extent + op.begin : Dim(op.begin);
    const Dim end = !op.end ? extent : *op.end < 0 ? extent + *op.end : Dim(*op.end);
    const bool outside = (begin.isKnown() && begin.value() < 0)
        || (end.isKnown() && extent.isKnown() && end.value() > extent.value());
    const Dim length = end - begin;
    if (outside || begin.isOutOfRange() || end.isOutOfRange() || (length.isKnown() && length.value() < 1)) {
        return badAttribute(
            "slice", std::to_string(op.begin) + " to " + (op.end ? std::to_string(*op.end) : "the end"),
            "a range inside the " + std::to_string(extent.orUnknown()) + " of axis " + std::to_string(axis));
    }
    dims[axis] = length;
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
