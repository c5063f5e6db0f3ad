#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {

using tensor::Shape;

Result<void> infer(const IndexCopy &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.needRank(1, 1));
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (dims.empty())
        return slots.wrongInput(0, "rank 1 or more");
    dims[0] = dimsOr(slots.input(1), 1)[0];
    HALFTONE_CHECK(slots.setInput(2, dims));
    return slots.setInput(1, {Dim::of(slots.input(2)[0])});
}

Result<void> infer(const SliceAssign &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (op.isScalar)
        return {};
    // What is put in has the shape that the slice would have.
    std::vector<Shape> outer{slots.input(0)};
    Shape slice = slots.input(1);
    ShapeSlots inner(outer, std::span(&slice, 1));
    HALFTONE_CHECK(infer(op.slice, inner));
    return slots.setInput(1, slice);
}

Result<void> infer(const ScatterAssign &op, ShapeSlots &slots)
{
    const std::vector<Dim> whole(op.shape.begin(), op.shape.end());
    HALFTONE_CHECK(slots.setInput(0, whole));
    HALFTONE_CHECK(slots.setOutput(0, whole));
    const Shape &indices = slots.input(2);
    if (!indices.hasRank())
        return {};
    if (indices.rank() == 0 || indices[0] > static_cast<std::int64_t>(whole.size()))
        return slots.wrongInput(
            2, "at most " + std::to_string(whole.size()) + " rows, one for each indexed axis");
    if (indices[0] < 0)
        return {};
    std::vector<Dim> dims = dimsOf(indices);
    dims.erase(dims.begin());
    dims.insert(dims.end(), whole.begin() + static_cast<std::ptrdiff_t>(indices[0]), whole.end());
    return slots.setInput(1, dims);
}

Result<void> infer(const IndexArray &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    for (const std::int64_t axis : op.axes.value_or(Dims{}))
        HALFTONE_CHECK(resolveAxis(axis, dims.size()));
    dims.push_back(static_cast<std::int64_t>(op.axes ? op.axes->size() : dims.size()));
    return slots.setOutput(0, dims);
}

Result<void> infer(const Diagonal &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    const Dim shift = op.offset < 0 ? Dim(0) - op.offset : Dim(op.offset);
    if (dims.size() == 1)
        return slots.setOutput(0, {dims[0] + shift, dims[0] + shift});
    HALFTONE_TRY(const std::size_t first, resolveAxis(op.first, dims.size()));
    HALFTONE_TRY(const std::size_t second, resolveAxis(op.second, dims.size()));
    if (first == second)
        return badAttribute("axis", std::to_string(first) + " twice", "two axes");
    const Dim rows = op.offset < 0 ? dims[first] - shift : dims[first];
    const Dim columns = op.offset > 0 ? dims[second] - shift : dims[second];
    Dim length = Dim::unknown();
    if (rows.isOutOfRange() || columns.isOutOfRange())
        length = Dim::outOfRange();
    else if (rows.isKnown() && columns.isKnown())
        length = std::max<std::int64_t>(std::min(rows.value(), columns.value()), 0);
    for (const std::size_t axis : {std::max(first, second), std::min(first, second)})
        dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    dims.push_back(length);
    return slots.setOutput(0, dims);
}

Result<void> infer(const FlatIndex &op, ShapeSlots &slots)
{
    if (!op.shape || op.shape->empty())
        return badAttribute("shape", "none", "one or more dimensions");
    const Dim axes = static_cast<std::int64_t>(op.shape->size());
    if (op.unravel) {
        if (!slots.input(0).hasRank())
            return {};
        std::vector<Dim> dims = dimsOf(slots.input(0));
        dims.insert(dims.begin(), axes);
        return slots.setOutput(0, dims);
    }
    HALFTONE_CHECK(slots.needRank(0, 2));
    HALFTONE_CHECK(slots.setInput(0, {axes, Dim::unknown()}));
    return slots.setOutput(0, {Dim::of(slots.input(0)[1])});
}

Result<void> infer(const Histogram &op, ShapeSlots &slots)
{
    Dim bounds = Dim::unknown();
    if (op.bins) {
        HALFTONE_CHECK(needAtLeast("bin_cnt", *op.bins, 1));
        bounds = Dim(*op.bins) + 1;
    } else {
        HALFTONE_CHECK(slots.needRank(1, 1));
        bounds = dimsOr(slots.input(1), 1)[0];
    }
    HALFTONE_CHECK(slots.setOutput(0, {bounds - 1}));
    return slots.setOutput(1, {bounds});
}

Result<void> infer(const CumSum &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    const Shape &data = slots.input(0);
    if (!op.axis)
        return slots.setOutput(0, {product(data, 0, data.rank())});
    HALFTONE_CHECK(resolveAxis(*op.axis, data.rank()));
    return slots.unify(0, 0);
}

Result<void> infer(const Linspace &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("num", op.count, 0));
    return slots.setOutput(0, {Dim(op.count)});
}

Result<void> infer(const Quadratic &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const AllFinite &, ShapeSlots &slots)
{
    return slots.setOutput(0, {Dim(1)});
}

} // namespace halftone::ops
