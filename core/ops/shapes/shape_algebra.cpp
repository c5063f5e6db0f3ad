#include "core/ops/einsum.h"
#include "core/ops/shape_rules.h"

#include <algorithm>
#include <map>
#include <utility>

namespace halftone::ops {
namespace {

using AlgebraKind = LinearAlgebra::Kind;
using DimList = std::vector<Dim>;

DimList withLast(DimList batch, std::initializer_list<Dim> last)
{
    batch.insert(batch.end(), last);
    return batch;
}

/// One number for each matrix.
DimList numbers(const LinearAlgebra &op, const DimList &batch)
{
    return batch.empty() && op.atLeastRank1 ? DimList{1} : batch;
}

Dim half(Dim product)
{
    return product / 2;
}

/// |offset|, or out of range.
Dim magnitude(std::int64_t offset)
{
    return offset < 0 ? Dim(0) - offset : Dim(offset);
}

Result<Dim> sideOf(const ShapeSlots &slots, std::size_t input, Dim rows, Dim columns)
{
    if (rows.isKnown() && columns.isKnown() && rows.value() != columns.value())
        return slots.wrongInput(input, "square matrices");
    return rows.isKnown() ? rows : columns;
}

/// The side of a triangle with so many elements; nothing when there is none.
std::optional<std::int64_t> triangleSide(std::int64_t count)
{
    std::int64_t low = 1;
    std::int64_t high = std::int64_t{1} << 31;
    const auto elements = [](std::int64_t side) { return side * (side + 1) / 2; };
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (elements(middle) < count)
            low = middle + 1;
        else
            high = middle;
    }
    return elements(low) == count ? std::optional(low) : std::nullopt;
}

Result<void> inferTriangular(const LinearAlgebra &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank() || !slots.input(1).hasRank())
        return {};
    DimList a = dimsOf(slots.input(0));
    DimList b = dimsOf(slots.input(1));
    if (a.size() < 2)
        return slots.wrongInput(0, "rank 2 or more");
    HALFTONE_CHECK(slots.needRank(1, a.size()));
    HALFTONE_TRY(Dim side, sideOf(slots, 0, a[a.size() - 2], a.back()));
    const std::size_t met = b.size() - (op.rightSide ? 1 : 2);
    side = side.isKnown() ? side : b[met];
    for (std::size_t axis = 0; axis + 2 < a.size(); ++axis) {
        a[axis] = a[axis].isKnown() ? a[axis] : b[axis];
        b[axis] = a[axis];
    }
    a[a.size() - 2] = a.back() = b[met] = side;
    HALFTONE_CHECK(slots.setInput(0, a));
    HALFTONE_CHECK(slots.setInput(1, b));
    return slots.unify(1, 0);
}

/// Operators of one input whose last axis is a diagonal or a triangle.
Result<void> inferMade(const LinearAlgebra &op, ShapeSlots &slots)
{
    DimList dims = dimsOf(slots.input(0));
    if (dims.empty())
        return slots.wrongInput(0, "rank 1 or more");
    Dim side = dims.back();
    dims.pop_back();
    if (op.kind == AlgebraKind::MakeTriangle && side.isKnown()) {
        const auto found = triangleSide(side.value());
        if (!found)
            return slots.wrongInput(0, "as many elements as a triangle has: 1, 3, 6, 10, …");
        side = *found;
    }
    side = side + magnitude(op.offset);
    return slots.setOutput(0, withLast(std::move(dims), {side, side}));
}

Result<void> inferExtracted(const LinearAlgebra &op, ShapeSlots &slots, const DimList &batch, Dim side)
{
    const Dim length = side - magnitude(op.offset);
    if (length.isOutOfRange() || (length.isKnown() && length.value() < 1))
        return badAttribute("offset", std::to_string(op.offset), "one that the matrix has");
    return slots.setOutput(
        0, withLast(batch, {op.kind == AlgebraKind::ExtractDiagonal ? length : half(length * (length + 1))}));
}

Result<void> inferRectangular(const LinearAlgebra &op, ShapeSlots &slots, const DimList &batch, Dim rows,
                              Dim columns)
{
    if (op.kind == AlgebraKind::Symmetric) {
        const Dim side = op.transpose ? columns : rows;
        return slots.setOutput(0, withLast(batch, {side, side}));
    }
    if (rows.isKnown() && columns.isKnown() && rows.value() > columns.value())
        return slots.wrongInput(0, "at most as many rows as columns");
    HALFTONE_CHECK(slots.unify(0, 0));
    return slots.setOutput(1, withLast(batch, {rows, rows}));
}

Result<void> inferSquare(const LinearAlgebra &op, ShapeSlots &slots, const DimList &batch, Dim side)
{
    const std::size_t scratch = op.kind == AlgebraKind::LogDeterminant ? 2 : 1;
    switch (op.kind) {
    case AlgebraKind::Determinant:
    case AlgebraKind::LogDeterminant:
        for (std::size_t o = 0; o < scratch; ++o)
            HALFTONE_CHECK(slots.setOutput(o, numbers(op, batch)));
        HALFTONE_CHECK(slots.setOutput(scratch, withLast(batch, {side, side})));
        return slots.setOutput(scratch + 1, withLast(batch, {side}));
    case AlgebraKind::SymmetricEigen:
        HALFTONE_CHECK(slots.setOutput(1, withLast(batch, {side})));
        return slots.setOutput(0, withLast(batch, {side, side}));
    case AlgebraKind::ExtractDiagonal:
    case AlgebraKind::ExtractTriangle:
        return inferExtracted(op, slots, batch, side);
    default:
        return slots.setOutput(0, withLast(batch, {side, side}));
    }
}

} // namespace

Result<void> infer(const LinearAlgebra &op, ShapeSlots &slots)
{
    if (op.kind == AlgebraKind::TriangularProduct || op.kind == AlgebraKind::TriangularSolve)
        return inferTriangular(op, slots);
    if (!slots.input(0).hasRank())
        return {};
    if (op.kind == AlgebraKind::MakeDiagonal || op.kind == AlgebraKind::MakeTriangle)
        return inferMade(op, slots);
    DimList batch = dimsOf(slots.input(0));
    if (batch.size() < 2)
        return slots.wrongInput(0, "rank 2 or more");
    const Dim columns = batch.back();
    batch.pop_back();
    const Dim rows = batch.back();
    batch.pop_back();
    if (op.kind == AlgebraKind::LogDiagonalSum)
        return slots.setOutput(0, numbers(op, batch));
    if (op.kind == AlgebraKind::Symmetric || op.kind == AlgebraKind::LowerOrthogonal)
        return inferRectangular(op, slots, batch, rows, columns);
    HALFTONE_TRY(const Dim side, sideOf(slots, 0, rows, columns));
    return inferSquare(op, slots, batch, side);
}

Result<void> infer(const ColumnKronecker &, ShapeSlots &slots)
{
    Dim rows = 1;
    Dim columns = Dim::unknown();
    for (std::size_t i = 0; i < slots.inputCount(); ++i) {
        HALFTONE_CHECK(slots.needRank(i, 2));
        const DimList dims = dimsOr(slots.input(i), 2);
        rows = rows * dims[0];
        columns = columns.isKnown() ? columns : dims[1];
    }
    for (std::size_t i = 0; i < slots.inputCount(); ++i)
        HALFTONE_CHECK(slots.setInput(i, {Dim::unknown(), columns}));
    return slots.setOutput(0, {rows, columns});
}

Result<void> infer(const Einsum &op, ShapeSlots &slots)
{
    std::vector<std::size_t> ranks;
    for (std::size_t i = 0; i < slots.inputCount(); ++i) {
        if (!slots.input(i).hasRank())
            return {};
        ranks.push_back(slots.input(i).rank());
    }
    HALFTONE_TRY(const EinsumLabels labels, readEinsum(op.equation, ranks));
    std::map<int, Dim> extents;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        for (std::size_t axis = 0; axis < ranks[i]; ++axis) {
            const Dim here = Dim::of(slots.input(i)[axis]);
            Dim &known = extents.try_emplace(labels.inputs[i][axis], here).first->second;
            if (known.isKnown() && here.isKnown() && known.value() != here.value() && known.value() != 1
                && here.value() != 1)
                return slots.wrongInput(i,
                                        std::to_string(known.value()) + " on axis " + std::to_string(axis)
                                            + ", as its letter has elsewhere");
            if (!known.isKnown() || known.value() == 1)
                known = here;
        }
    }
    DimList output;
    for (const int label : labels.output)
        output.push_back(extents.at(label));
    return slots.setOutput(0, output);
}

} // namespace halftone::ops
