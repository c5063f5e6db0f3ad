#include "core/dialect/mxnet/operator_describe.h"

#include <algorithm>

namespace halftone::dialect::mxnet {
namespace {

constexpr std::string_view kIndexModes[] = {"clip", "wrap", "raise"};

} // namespace

void describe(OperatorFields &f, ops::Gather &op)
{
    f.integer("axis", op.axis);
    f.choice("mode", op.mode, kIndexModes);
}

void describe(OperatorFields &, ops::GatherND &) { }

void describe(OperatorFields &f, ops::ScatterIntoZeros &op)
{
    f.tuple("shape", op.shape);
}

void describe(OperatorFields &f, ops::Pick &op)
{
    f.integer("axis", op.axis);
    f.boolean("keepdims", op.keepDims);
    f.choice("mode", op.mode, kIndexModes);
}

void describe(OperatorFields &, ops::BatchTake &) { }

void describe(OperatorFields &f, ops::OneHot &op)
{
    f.integer("depth", op.depth);
    f.real("on_value", op.on);
    f.real("off_value", op.off);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::Sequence &op)
{
    f.integer("axis", op.axis);
    f.boolean("use_sequence_length", op.useLength);
    if (op.kind == ops::Sequence::Kind::Mask)
        f.real("value", op.value);
}

void describe(OperatorFields &, ops::ShapeOf &) { }

void describe(OperatorFields &f, ops::Fill &op)
{
    // MXNet 1.x writes an unknown dimension as 0 (a recurrent cell's first state leaves its batch open).
    std::ranges::replace(op.shape, std::int64_t{-1}, std::int64_t{0});
    f.tuple("shape", op.shape);
    std::ranges::replace(op.shape, std::int64_t{0}, std::int64_t{-1});
    if (op.kind == ops::Fill::Kind::Value)
        f.real("value", op.value);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::Range &op)
{
    f.real("start", op.start);
    f.optionalReal("stop", op.stop);
    f.real("step", op.step);
    f.integer("repeat", op.repeat);
    f.boolean("infer_range", op.inferLength);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::RangeLike &op)
{
    f.real("start", op.start);
    f.real("step", op.step);
    f.integer("repeat", op.repeat);
    f.optionalInteger("axis", op.axis);
}

void describe(OperatorFields &f, ops::ControlFlow &op)
{
    using Kind = ops::ControlFlow::Kind;
    f.integer("num_args", op.inputs);
    f.integer("num_outputs", op.outputs);
    if (op.kind != Kind::Cond)
        f.integer("num_out_data", op.dataOutputs);
    if (op.kind == Kind::ForEach) {
        f.tuple("in_data_locs", op.dataLocations);
        f.tuple("in_state_locs", op.stateLocations);
        return f.tuple("remain_locs", op.bodyLocations);
    }
    f.tuple("cond_input_locs", op.conditionLocations);
    if (op.kind == Kind::Cond) {
        f.tuple("then_input_locs", op.bodyLocations);
        return f.tuple("else_input_locs", op.elseLocations);
    }
    f.tuple("func_input_locs", op.bodyLocations);
    f.tuple("func_var_locs", op.stateLocations);
    f.integer("max_iterations", op.maxIterations);
}

} // namespace halftone::dialect::mxnet
