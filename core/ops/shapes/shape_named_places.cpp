#include "core/ops/shape_rules.h"

#include <algorithm>
#include <utility>

namespace halftone::ops {

using tensor::Shape;

namespace {

std::ptrdiff_t signedOf(std::size_t value)
{
    return static_cast<std::ptrdiff_t>(value);
}

/// Length of begin:end:step on an extent, begin and end counting from the end where they are negative and cut to it. Backwards, a begin
/// before the first element is the first element, as ONNX has it; Python takes nothing then.
std::int64_t slicedExtent(std::int64_t extent, std::int64_t begin, std::int64_t end, std::int64_t step)
{
    if (extent == 0)
        return 0;
    const bool forward = step > 0;
    const auto clamped = [&](std::int64_t position, std::int64_t least) {
        return std::clamp<std::int64_t>(position < 0 ? position + extent : position, least,
                                        forward ? extent : extent - 1);
    };
    const std::int64_t first = clamped(begin, 0);
    const std::int64_t beyond = clamped(end, forward ? 0 : -1);
    const std::int64_t distance = forward ? beyond - first : first - beyond;
    if (distance <= 0)
        return 0;
    return (forward ? (distance - 1) / step : -((distance - 1) / step)) + 1;
}

/// Updates of the slices that tuples of indices name: (tuples…, what the tuples leave).
Result<std::vector<Dim>> tupleDims(const ShapeSlots &slots, std::size_t batchAxes)
{
    const Shape &data = slots.input(0);
    const Shape &indices = slots.input(1);
    if (indices.rank() == 0 || batchAxes >= std::min(indices.rank(), data.rank()))
        return slots.wrongInput(1, "rank " + std::to_string(batchAxes + 1) + " or more");
    const std::int64_t named = indices[indices.rank() - 1];
    if (named > static_cast<std::int64_t>(data.rank() - batchAxes))
        return slots.wrongInput(1,
                                "at most " + std::to_string(data.rank() - batchAxes) + " in the last axis");
    std::vector<Dim> dims = dimsOf(indices);
    dims.pop_back();
    const std::vector<Dim> rest = dimsOf(data);
    dims.insert(dims.end(), rest.begin() + signedOf(batchAxes) + named, rest.end());
    return dims;
}

} // namespace

Result<void> infer(const InsertAxes &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::vector<std::size_t> axes, resolveAxes(op.axes, dims.size() + op.axes.size()));
    for (const std::size_t axis : axes)
        dims.insert(dims.begin() + signedOf(axis), 1);
    return slots.setOutput(0, dims);
}

Result<void> infer(const StridedSlice &op, ShapeSlots &slots)
{
    const std::size_t count = op.begin.size();
    if (op.end.size() != count || (!op.step.empty() && op.step.size() != count)
        || (op.axes && op.axes->size() != count))
        return badAttribute("slice",
                            std::to_string(count) + " begins and " + std::to_string(op.end.size()) + " ends",
                            "as many of each, and of axes and steps");
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    Dims leading;
    for (std::size_t i = 0; i < count; ++i)
        leading.push_back(op.axes ? (*op.axes)[i] : static_cast<std::int64_t>(i));
    HALFTONE_CHECK(resolveAxes(leading, dims.size()));
    for (std::size_t i = 0; i < count; ++i) {
        HALFTONE_TRY(const std::size_t axis, resolveAxis(leading[i], dims.size()));
        const std::int64_t step = op.step.empty() ? 1 : op.step[i];
        if (step == 0)
            return badAttribute("step", "0", "another number");
        if (dims[axis].isKnown())
            dims[axis] = slicedExtent(dims[axis].value(), op.begin[i], op.end[i], step);
    }
    return slots.setOutput(0, dims);
}

Result<void> infer(const Expand &op, ShapeSlots &slots)
{
    if (op.shape.size() > kMaxRank
        || std::ranges::any_of(op.shape, [](std::int64_t dim) { return dim < -1; }))
        return badAttribute("shape", std::to_string(op.shape.size()) + " values", "at most 32 of 0 or more");
    HALFTONE_TRY(const Shape output, broadcast(slots.input(0), Shape(op.shape)));
    return slots.setOutput(0, output);
}

Result<void> infer(const GatherElements &op, ShapeSlots &slots)
{
    if (slots.input(0).hasRank()) {
        HALFTONE_CHECK(resolveAxis(op.axis, slots.input(0).rank()));
        HALFTONE_CHECK(slots.needRank(1, slots.input(0).rank()));
    }
    return slots.unify(1, 0);
}

Result<void> infer(const GatherTuples &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("batch axes", op.batchAxes, 0));
    const Shape &indices = slots.input(1);
    if (!slots.input(0).hasRank() || !indices.hasRank() || indices.rank() == 0
        || indices[indices.rank() - 1] < 0)
        return {};
    HALFTONE_TRY(const std::vector<Dim> dims, tupleDims(slots, static_cast<std::size_t>(op.batchAxes)));
    return slots.setOutput(0, dims);
}

Result<void> infer(const ScatterElements &op, ShapeSlots &slots)
{
    if (slots.input(0).hasRank()) {
        HALFTONE_CHECK(resolveAxis(op.axis, slots.input(0).rank()));
        HALFTONE_CHECK(slots.needRank(1, slots.input(0).rank()));
    }
    HALFTONE_CHECK(slots.setInput(2, slots.input(1)));
    HALFTONE_CHECK(slots.setInput(1, slots.input(2)));
    return slots.unify(0, 0);
}

Result<void> infer(const ScatterTuples &, ShapeSlots &slots)
{
    const Shape &indices = slots.input(1);
    if (slots.input(0).hasRank() && indices.hasRank() && indices.rank() > 0
        && indices[indices.rank() - 1] >= 0) {
        HALFTONE_TRY(const std::vector<Dim> dims, tupleDims(slots, 0));
        HALFTONE_CHECK(slots.setInput(2, dims));
    }
    return slots.unify(0, 0);
}

Result<void> infer(const CacheUpdate &op, ShapeSlots &slots)
{
    const Shape &cache = slots.input(0);
    if (cache.hasRank()) {
        HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, cache.rank()));
        if (axis == 0)
            return badAttribute("axis", std::to_string(op.axis), "another than that of the batch");
        std::vector<Dim> update = dimsOf(cache);
        update[axis] = dimsOr(slots.input(1), cache.rank())[axis];
        if (update[axis].isKnown() && cache[axis] >= 0 && update[axis].value() > cache[axis])
            return slots.wrongInput(
                1, "at most " + std::to_string(cache[axis]) + " on axis " + std::to_string(axis));
        HALFTONE_CHECK(slots.setInput(1, update));
        if (op.hasBegins)
            HALFTONE_CHECK(slots.setInput(2, {Dim::of(cache[0])}));
    }
    return slots.unify(0, 0);
}

Result<void> infer(const Compress &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.needRank(1, 1));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims{Dim::unknown()};
    if (op.axis) {
        dims = dimsOf(slots.input(0));
        HALFTONE_TRY(const std::size_t axis, resolveAxis(*op.axis, dims.size()));
        dims[axis] = Dim::unknown();
    }
    return slots.setOutput(0, dims);
}

Result<void> infer(const NonZero &, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    return slots.setOutput(0, {Dim(static_cast<std::int64_t>(slots.input(0).rank())), Dim::unknown()});
}

/// What a list or an optional value holds is nobody's business before it runs.
Result<void> infer(const TensorList &op, ShapeSlots &slots)
{
    return op.kind == TensorList::Kind::Length || op.kind == TensorList::Kind::Has
        ? slots.setOutput(0, std::vector<Dim>())
        : Result<void>();
}

Result<void> infer(const OneHotValues &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size() + 1));
    dims.insert(dims.begin() + signedOf(axis), Dim(op.depth));
    return slots.setOutput(0, dims);
}

Result<void> infer(const Triangle &, ShapeSlots &slots)
{
    if (slots.input(0).hasRank() && slots.input(0).rank() < 2)
        return slots.wrongInput(0, "rank 2 or more");
    return slots.unify(0, 0);
}

Result<void> infer(const EyeLike &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.needRank(0, 2));
    return slots.unify(0, 0);
}

Result<void> infer(const CenterCropPad &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    const std::size_t count = op.axes ? op.axes->size() : dims.size();
    if (op.extents.size() != count)
        return badAttribute("shape", std::to_string(op.extents.size()) + " values", std::to_string(count));
    for (std::size_t i = 0; i < count; ++i) {
        HALFTONE_TRY(const std::size_t axis,
                     resolveAxis(op.axes ? (*op.axes)[i] : static_cast<std::int64_t>(i), dims.size()));
        dims[axis] = op.extents[i];
    }
    return slots.setOutput(0, dims);
}

} // namespace halftone::ops
