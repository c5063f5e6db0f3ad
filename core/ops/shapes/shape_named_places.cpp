#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {

using tensor::Shape;

namespace {

std::ptrdiff_t signedOf(std::size_t value)
{
    return static_cast<std::ptrdiff_t>(value);
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

/// Of GatherND whose first axis of the indices names the axes of data.
Result<void> inferRows(ShapeSlots &slots)
{
    const Shape &data = slots.input(0);
    const Shape &indices = slots.input(1);
    if (!data.hasRank() || !indices.hasRank())
        return {};
    if (indices.rank() == 0 || indices[0] > static_cast<std::int64_t>(data.rank()))
        return slots.wrongInput(
            1, "at most " + std::to_string(data.rank()) + " rows, one for each indexed axis");
    if (indices[0] < 0)
        return {};
    std::vector<Dim> dims = dimsOf(indices);
    dims.erase(dims.begin());
    const std::vector<Dim> rest = dimsOf(data);
    dims.insert(dims.end(), rest.begin() + indices[0], rest.end());
    return slots.setOutput(0, dims);
}

} // namespace

Result<void> infer(const GatherElements &op, ShapeSlots &slots)
{
    if (slots.input(0).hasRank()) {
        HALFTONE_CHECK(resolveAxis(op.axis, slots.input(0).rank()));
        HALFTONE_CHECK(slots.needRank(1, slots.input(0).rank()));
    }
    return slots.unify(1, 0);
}

Result<void> infer(const GatherND &op, ShapeSlots &slots)
{
    if (op.byRows)
        return inferRows(slots);
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

Result<void> infer(const ScatterND &, ShapeSlots &slots)
{
    const Shape &indices = slots.input(1);
    if (slots.input(0).hasRank() && indices.hasRank() && indices.rank() > 0
        && indices[indices.rank() - 1] >= 0) {
        HALFTONE_TRY(const std::vector<Dim> dims, tupleDims(slots, 0));
        HALFTONE_CHECK(slots.setInput(2, dims));
    }
    return slots.unify(0, 0);
}

Result<void> infer(const TensorScatter &op, ShapeSlots &slots)
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

Result<void> infer(const Trilu &, ShapeSlots &slots)
{
    if (slots.input(0).hasRank() && slots.input(0).rank() < 2)
        return slots.wrongInput(0, "rank 2 or more");
    return slots.unify(0, 0);
}

Result<void> infer(const EyeLike &op, ShapeSlots &slots)
{
    if (!op.hasInput) {
        HALFTONE_CHECK(needAtLeast("N", op.rows, 1));
        HALFTONE_CHECK(needAtLeast("M", op.columns, 0));
        return slots.setOutput(0, {Dim(op.rows), Dim(op.columns == 0 ? op.rows : op.columns)});
    }
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
