#include "core/ops/shape_rules.h"

namespace halftone::ops {
namespace {

/// Two dimensions that a product sums over.
Result<void> needEqual(const ShapeSlots &slots, Dim first, Dim second)
{
    if (first.isKnown() && second.isKnown() && first.value() != second.value())
        return slots.wrongInput(
            1, std::to_string(first.value()) + " where it meets input 0, " + slots.input(0).toString());
    return {};
}

Result<void> inferDot(const MatMul &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank() || !slots.input(1).hasRank())
        return {};
    std::vector<Dim> a = dimsOf(slots.input(0));
    std::vector<Dim> b = dimsOf(slots.input(1));
    if (a.empty())
        return slots.wrongInput(0, "rank 1 or more");
    if (b.empty())
        return slots.wrongInput(1, "rank 1 or more");
    const auto summedA = op.transposeA ? a.begin() : a.end() - 1;
    const auto summedB = op.transposeB ? b.end() - 1 : b.begin();
    HALFTONE_CHECK(needEqual(slots, *summedA, *summedB));
    a.erase(summedA);
    b.erase(summedB);
    a.insert(a.end(), b.begin(), b.end());
    if (a.empty())
        a.push_back(1);
    return slots.setOutput(0, a);
}

/// Output of matrix products over the axes `row` and the last; the other axes of both are unified.
Result<void> inferBatched(ShapeSlots &slots, bool transposeA, bool transposeB, std::size_t row,
                          std::size_t rank)
{
    std::vector<Dim> a = dimsOf(slots.input(0));
    std::vector<Dim> b = dimsOf(slots.input(1));
    const std::size_t last = rank - 1;
    for (std::size_t axis = 0; axis < last; ++axis) {
        if (axis == row)
            continue;
        if (!a[axis].isKnown())
            a[axis] = b[axis];
        b[axis] = a[axis];
    }
    HALFTONE_CHECK(slots.setInput(0, a));
    HALFTONE_CHECK(slots.setInput(1, b));
    HALFTONE_CHECK(needEqual(slots, a[transposeA ? row : last], b[transposeB ? last : row]));
    std::vector<Dim> output = a;
    output[row] = a[transposeA ? last : row];
    output[last] = b[transposeB ? row : last];
    return slots.setOutput(0, output);
}

Result<void> inferStretched(ShapeSlots &slots)
{
    if (!slots.input(0).hasRank() || !slots.input(1).hasRank())
        return {};
    std::vector<Dim> a = dimsOf(slots.input(0));
    std::vector<Dim> b = dimsOf(slots.input(1));
    for (const std::size_t i : {0, 1})
        if (slots.input(i).rank() == 0)
            return slots.wrongInput(i, "rank 1 or more");
    const bool isRow = a.size() == 1;
    const bool isColumn = b.size() == 1;
    if (isRow)
        a.insert(a.begin(), 1);
    if (isColumn)
        b.push_back(1);
    HALFTONE_CHECK(needEqual(slots, a.back(), b[b.size() - 2]));
    const auto leading = [](const std::vector<Dim> &dims) {
        tensor::Shape shape = tensor::Shape::ofRank(dims.size() - 2);
        for (std::size_t axis = 0; axis + 2 < dims.size(); ++axis)
            shape[axis] = dims[axis].orUnknown();
        return shape;
    };
    HALFTONE_TRY(const tensor::Shape both, broadcast(leading(a), leading(b)));
    std::vector<Dim> output = dimsOf(both);
    if (!isRow)
        output.push_back(a[a.size() - 2]);
    if (!isColumn)
        output.push_back(b.back());
    return slots.setOutput(0, output);
}

} // namespace

Result<void> infer(const FullyConnected &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("units", op.units, 1));
    const tensor::Shape &bias = slots.input(2);
    // A column is what some old exporters wrote; its elements lie the same way.
    const bool column = bias.hasRank() && bias.rank() == 2 && bias[1] == 1;
    if (op.hasBias)
        HALFTONE_CHECK(
            slots.setInput(2, column ? std::vector<Dim>{op.units, 1} : std::vector<Dim>{op.units}));
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return slots.setInput(1, {Dim(op.units), Dim::unknown()});
    if (data.rank() == 0)
        return slots.wrongInput(0, "rank 1 or more");

    std::vector<Dim> dims = dimsOf(data);
    const tensor::Shape &output = slots.output(0);
    if (output.hasRank() && output.rank() > 0 && (op.flatten || data.rank() > 1) && !dims[0].isKnown())
        dims[0] = Dim::of(output[0]);
    HALFTONE_CHECK(slots.setInput(0, dims));
    const Dim features = op.flatten ? product(data, 1, data.rank()) : dims.back();
    HALFTONE_CHECK(slots.setInput(1, {Dim(op.units), features}));
    if (op.flatten)
        return slots.setOutput(0, {dims[0], Dim(op.units)});
    dims.back() = op.units;
    return slots.setOutput(0, dims);
}

Result<void> infer(const MatMul &op, ShapeSlots &slots)
{
    if (op.form == MatMul::Form::Dot)
        return inferDot(op, slots);
    if (op.form == MatMul::Form::Stretched)
        return inferStretched(slots);
    const std::size_t rank = slots.input(0).hasRank() ? slots.input(0).rank() : slots.input(1).rank();
    if (!slots.input(0).hasRank() || !slots.input(1).hasRank())
        return {};
    if (rank < 3)
        return slots.wrongInput(0, "rank 3 or more");
    HALFTONE_CHECK(slots.needRank(1, rank));
    return inferBatched(slots, op.transposeA, op.transposeB, rank - 2, rank);
}

Result<void> infer(const Gemm &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank() || !slots.input(1).hasRank())
        return {};
    const std::size_t rank = slots.input(0).rank();
    HALFTONE_CHECK(slots.needRank(1, rank));
    HALFTONE_TRY(const std::size_t row, resolveAxis(op.axis, rank));
    if (row + 1 == rank)
        return badAttribute("axis", std::to_string(op.axis), "another axis than the last");
    HALFTONE_CHECK(inferBatched(slots, op.transposeA, op.transposeB, row, rank));
    if (op.hasAddend && op.addendStretches) {
        HALFTONE_TRY(const tensor::Shape both, broadcast(slots.output(0), slots.input(2)));
        return slots.setOutput(0, both);
    }
    return op.hasAddend ? slots.unify(2, 0) : Result<void>();
}

Result<void> infer(const Embedding &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("rows", op.rows, 1));
    HALFTONE_CHECK(needAtLeast("width", op.width, 1));
    HALFTONE_CHECK(slots.setInput(1, {Dim(op.rows), Dim(op.width)}));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    dims.push_back(op.width);
    return slots.setOutput(0, dims);
}

} // namespace halftone::ops
