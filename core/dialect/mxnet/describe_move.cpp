#include "core/dialect/mxnet/operator_describe.h"

#include <algorithm>

namespace halftone::dialect::mxnet {
namespace {

/// The deprecated form of Reshape: 0 is what is left, and with `keep_highest` the first dimension stays.
void describeTargetShape(OperatorFields &f, ops::Reshape &op)
{
    ops::Dims target;
    bool keepHighest = false;
    f.tuple("target_shape", target);
    f.boolean("keep_highest", keepHighest);
    const auto first = target.begin() + (keepHighest && !target.empty() ? 1 : 0);
    if (std::count(first, target.end(), 0) > 1)
        return f.fail("target_shape", "several zeros", "at most one dimension to infer");
    std::replace(first, target.end(), std::int64_t{0}, std::int64_t{-1});
    if (first != target.begin())
        target.front() = 0;
    op.shape = std::move(target);
}

/// slice_axis.
void describeSliceOfAxis(OperatorFields &f, ops::Slice &op)
{
    if (!f.isReading() && op.begin.size() != 1)
        return f.fail("axis", std::to_string(op.begin.size()) + " axes", "one");
    ops::Dims axes = op.axes.value_or(ops::Dims(1, 0));
    std::int64_t begin = op.begin.empty() ? 0 : op.begin[0].value_or(0);
    op.end.resize(1);
    f.integer("axis", axes[0]);
    f.integer("begin", begin);
    f.optionalInteger("end", op.end[0]);
    op.axes = std::move(axes);
    op.begin.assign(1, begin);
}

} // namespace

void describe(OperatorFields &f, ops::Concat &op)
{
    f.integer("dim", op.axis);
    f.integer("num_args", op.inputs);
}

void describe(OperatorFields &f, ops::Stack &op)
{
    f.integer("axis", op.axis);
    f.integer("num_args", op.inputs);
}

void describe(OperatorFields &f, ops::Split &op)
{
    f.integer("axis", op.axis);
    f.boolean("squeeze_axis", op.squeezeAxis);
    if (!op.uneven)
        return f.integer("num_outputs", op.sections);
    f.integer("sections", op.sections);
    f.tuple("indices", op.indices);
}

void describe(OperatorFields &f, ops::Reshape &op)
{
    f.tuple("shape", op.shape);
    f.boolean("reverse", op.reverse);
    if (f.isReading() && op.shape.empty())
        describeTargetShape(f, op);
}

void describe(OperatorFields &, ops::Flatten &) { }

void describe(OperatorFields &f, ops::Unsqueeze &op)
{
    if (!f.isReading() && op.axes.size() != 1)
        return f.fail("axis", std::to_string(op.axes.size()) + " axes", "one");
    op.axes.resize(1);
    f.integer("axis", op.axes[0]);
}

void describe(OperatorFields &f, ops::Squeeze &op)
{
    f.optionalTuple("axis", op.axes);
}

void describe(OperatorFields &f, ops::Transpose &op)
{
    f.tuple("axes", op.axes);
}

void describe(OperatorFields &f, ops::SwapAxes &op)
{
    f.integer("dim1", op.first);
    f.integer("dim2", op.second);
}

void describe(OperatorFields &f, ops::Slice &op)
{
    if (op.isInside)
        return describeSliceOfAxis(f, op);
    f.sparseTuple("begin", op.begin);
    f.sparseTuple("end", op.end);
    f.sparseTuple("step", op.step);
}

void describe(OperatorFields &f, ops::SliceLike &op)
{
    f.tuple("axes", op.axes);
}

void describe(OperatorFields &f, ops::Pad &op)
{
    static constexpr std::string_view kModes[] = {"constant", "edge", "reflect"};
    f.choice("mode", op.mode, kModes);
    f.tuple("pad_width", op.widths);
    f.real("constant_value", op.value);
}

void describe(OperatorFields &f, ops::Tile &op)
{
    f.tuple("reps", op.repeats);
}

void describe(OperatorFields &f, ops::Repeat &op)
{
    f.integer("repeats", op.repeats);
    f.optionalInteger("axis", op.axis);
}

void describe(OperatorFields &f, ops::Reverse &op)
{
    f.tuple("axis", op.axes);
}

void describe(OperatorFields &f, ops::Expand &op)
{
    f.tuple("shape", op.shape);
}

void describe(OperatorFields &f, ops::BroadcastAxes &op)
{
    f.tuple("axis", op.axes);
    f.tuple("size", op.sizes);
}

void describe(OperatorFields &f, ops::BroadcastLike &op)
{
    f.optionalTuple("lhs_axes", op.axes);
    f.optionalTuple("rhs_axes", op.likeAxes);
}

void describe(OperatorFields &f, ops::ReshapeLike &op)
{
    f.optionalInteger("lhs_begin", op.begin);
    f.optionalInteger("lhs_end", op.end);
    f.optionalInteger("rhs_begin", op.likeBegin);
    f.optionalInteger("rhs_end", op.likeEnd);
}

void describe(OperatorFields &f, ops::DepthToSpace &op)
{
    f.integer("block_size", op.block);
}

void describe(OperatorFields &f, ops::SpaceToDepth &op)
{
    f.integer("block_size", op.block);
}

} // namespace halftone::dialect::mxnet
