#include "core/ops/shape_rules.h"

namespace halftone::ops {
namespace {

/// A vector is one row.
Result<Dim> rowsOf(const ShapeSlots &slots, std::int64_t features)
{
    const tensor::Shape &data = slots.input(0);
    if (data.rank() < 1 || data.rank() > 2)
        return slots.wrongInput(0, "rows of features");
    const std::int64_t width = data[data.rank() - 1];
    if (width != tensor::Shape::kUnknown && width < features)
        return slots.wrongInput(0, "at least " + std::to_string(features) + " features");
    return data.rank() == 1 ? Dim::of(1) : Dim::of(data[0]);
}

} // namespace

Result<void> infer(const TreeEnsemble &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    HALFTONE_TRY(const Dim rows, rowsOf(slots, op.features));
    if (op.isClassifier())
        HALFTONE_CHECK(slots.setOutput(0, {rows}));
    return slots.setOutput(op.isClassifier() ? 1 : 0, {rows, Dim::of(op.columns)});
}

Result<void> infer(const SupportVectors &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    HALFTONE_TRY(const Dim rows, rowsOf(slots, op.features));
    HALFTONE_CHECK(slots.setOutput(0, {rows}));
    return slots.setOutput(1, {rows, Dim::of(op.columns())});
}

Result<void> infer(const TfIdfVectorizer &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    if (data.rank() < 1 || data.rank() > 2)
        return slots.wrongInput(0, "a row of numbers, or rows of them");
    std::vector<Dim> dims = dimsOf(data);
    dims.back() = Dim::of(op.columns);
    return slots.setOutput(0, dims);
}

} // namespace halftone::ops
