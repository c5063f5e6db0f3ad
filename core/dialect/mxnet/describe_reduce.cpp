#include "core/dialect/mxnet/operator_describe.h"

namespace halftone::dialect::mxnet {
namespace {

constexpr std::string_view kNormalizations[] = {"null", "batch", "valid"};

} // namespace

void describe(OperatorFields &f, ops::Reduce &op)
{
    using Kind = ops::Reduce::Kind;
    f.tuple("axis", op.axes);
    f.boolean("keepdims", op.keepDims);
    if (op.kind != Kind::L1 && op.kind != Kind::L2)
        return f.boolean("exclude", op.exclude);
    std::int64_t order = op.kind == Kind::L1 ? 1 : 2;
    f.integer("ord", order);
    if (order != 1 && order != 2)
        f.fail("ord", std::to_string(order), "1 or 2");
    op.kind = order == 1 ? Kind::L1 : Kind::L2;
    f.dtype("out_dtype", op.accumulate);
}

void describe(OperatorFields &f, ops::Moments &op)
{
    f.tuple("axes", op.axes);
    f.boolean("keepdims", op.keepDims);
}

void describe(OperatorFields &f, ops::ArgReduce &op)
{
    if (op.perRow)
        return;
    f.optionalInteger("axis", op.axis);
    f.boolean("keepdims", op.keepDims);
}

void describe(OperatorFields &f, ops::Softmax &op)
{
    f.integer("axis", op.axis);
    f.optionalReal("temperature", op.temperature);
    f.boolean("use_length", op.useLength);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::SoftmaxActivation &op)
{
    static constexpr std::string_view kModes[] = {"instance", "channel"};
    std::size_t mode = op.channel ? 1 : 0;
    f.choiceIndex("mode", mode, kModes);
    op.channel = mode == 1;
}

void describe(OperatorFields &f, ops::SoftmaxOutput &op)
{
    f.boolean("multi_output", op.multiOutput);
    f.boolean("preserve_shape", op.preserveShape);
    f.real("grad_scale", op.gradScale);
    f.real("ignore_label", op.ignoreLabel);
    f.boolean("use_ignore", op.useIgnore);
    f.boolean("out_grad", op.outGrad);
    f.real("smooth_alpha", op.smoothAlpha);
    f.choice("normalization", op.normalization, kNormalizations);
}

void describe(OperatorFields &f, ops::RegressionOutput &op)
{
    f.real("grad_scale", op.gradScale);
}

void describe(OperatorFields &f, ops::LossOutput &op)
{
    f.real("grad_scale", op.gradScale);
    f.real("valid_thresh", op.validThreshold);
    f.choice("normalization", op.normalization, kNormalizations);
}

void describe(OperatorFields &, ops::SoftmaxCrossEntropy &) { }

void describe(OperatorFields &f, ops::TopK &op)
{
    static constexpr std::string_view kReturns[] = {"indices", "value", "mask", "both"};
    f.choice("ret_typ", op.returns, kReturns);
    f.optionalInteger("axis", op.axis);
    f.integer("k", op.k);
    f.boolean("is_ascend", op.ascending);
    f.dtype("dtype", op.indexType);
}

void describe(OperatorFields &f, ops::Sort &op)
{
    f.optionalInteger("axis", op.axis);
    f.boolean("is_ascend", op.ascending);
}

void describe(OperatorFields &f, ops::ArgSort &op)
{
    f.optionalInteger("axis", op.axis);
    f.boolean("is_ascend", op.ascending);
    f.dtype("dtype", op.indexType);
}

} // namespace halftone::dialect::mxnet
