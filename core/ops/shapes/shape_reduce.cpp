#include "core/ops/shape_rules.h"

namespace halftone::ops {
namespace {

/// The input's dimensions with the marked axes dropped, or set to 1.
std::vector<Dim> reduced(const tensor::Shape &shape, const std::vector<bool> &gone, bool keepDims,
                         bool atLeastRank1)
{
    std::vector<Dim> dims;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (!gone[axis])
            dims.push_back(Dim::of(shape[axis]));
        else if (keepDims)
            dims.push_back(1);
    }
    if (dims.empty() && atLeastRank1)
        dims.push_back(1);
    return dims;
}

/// Which axes `axes` names (empty: all), or all the others.
Result<std::vector<bool>> marked(const Dims &axes, bool exclude, std::size_t rank)
{
    if (axes.empty())
        return std::vector<bool>(rank, true);
    HALFTONE_TRY(const std::vector<std::size_t> resolved, resolveAxes(axes, rank));
    std::vector<bool> gone(rank, exclude);
    for (const std::size_t axis : resolved)
        gone[axis] = !exclude;
    return gone;
}

} // namespace

Result<void> infer(const Reduce &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    if (op.eachElement)
        return slots.unify(0, 0);
    HALFTONE_TRY(const std::vector<bool> gone, marked(op.axes, op.exclude, data.rank()));
    return slots.setOutput(0, reduced(data, gone, op.keepDims, op.atLeastRank1));
}

Result<void> infer(const Moments &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    HALFTONE_TRY(const std::vector<bool> gone, marked(op.axes, false, data.rank()));
    const std::vector<Dim> dims = reduced(data, gone, op.keepDims, op.atLeastRank1);
    HALFTONE_CHECK(slots.setOutput(0, dims));
    return slots.setOutput(1, dims);
}

Result<void> infer(const ArgReduce &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    // A vector has one axis only, and MXNet doesn't look which one was asked for.
    if (data.rank() == 1 && op.atLeastRank1)
        return slots.setOutput(0, {Dim(1)});
    Dims axes;
    if (op.perRow)
        axes = {1};
    else if (op.axis)
        axes = {*op.axis};
    HALFTONE_TRY(const std::vector<bool> gone, marked(axes, false, data.rank()));
    return slots.setOutput(0, reduced(data, gone, op.keepDims, op.atLeastRank1));
}

Result<void> infer(const TopK &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    if (op.returns == TopK::Returns::Mask)
        return slots.setOutput(0, tensor::Shape(data));
    std::vector<Dim> dims{product(data, 0, data.rank())};
    std::size_t axis = 0;
    if (op.axis) {
        dims = dimsOf(data);
        HALFTONE_TRY(axis, resolveAxis(*op.axis, data.rank()));
    }
    if (op.k > 0) {
        if (dims[axis].isKnown() && dims[axis].value() < op.k)
            return badAttribute("k", std::to_string(op.k), "at most " + std::to_string(dims[axis].value()));
        dims[axis] = op.k;
    }
    HALFTONE_CHECK(slots.setOutput(0, dims));
    return slots.setOutput(1, dims);
}

Result<void> infer(const Sort &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    std::vector<Dim> dims{product(data, 0, data.rank())};
    if (op.axis) {
        HALFTONE_CHECK(resolveAxis(*op.axis, data.rank()));
        dims = dimsOf(data);
    }
    HALFTONE_CHECK(slots.setOutput(0, dims));
    return slots.setOutput(1, dims);
}

Result<void> infer(const ArgSort &op, ShapeSlots &slots)
{
    return infer(Sort{op.axis, op.ascending}, slots);
}

} // namespace halftone::ops
