#include "core/dialect/mxnet/operator_describe.h"

namespace halftone::dialect::mxnet {

void describe(OperatorFields &, ops::IndexCopy &) { }

void describe(OperatorFields &f, ops::Compress &op)
{
    if (!f.isReading() && !op.axis)
        return f.fail("axis", "none", "one");
    std::int64_t axis = op.axis.value_or(0);
    f.integer("axis", axis);
    op.axis = axis;
}

void describe(OperatorFields &f, ops::SliceAssign &op)
{
    describe(f, op.slice);
    if (op.isScalar)
        f.real("scalar", op.value);
}

void describe(OperatorFields &f, ops::ScatterAssign &op)
{
    f.tuple("shape", op.shape);
}

void describe(OperatorFields &f, ops::IndexArray &op)
{
    f.optionalTuple("axes", op.axes);
}

void describe(OperatorFields &f, ops::Diagonal &op)
{
    f.integer("k", op.offset);
    f.integer("axis1", op.first);
    f.integer("axis2", op.second);
}

void describe(OperatorFields &f, ops::FlatIndex &op)
{
    f.optionalTuple("shape", op.shape);
}

void describe(OperatorFields &f, ops::Histogram &op)
{
    f.optionalInteger("bin_cnt", op.bins);
    if (op.bins)
        f.realTuple("range", op.range);
}

void describe(OperatorFields &f, ops::CumSum &op)
{
    f.optionalInteger("axis", op.axis);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::EyeLike &op)
{
    f.integer("N", op.rows);
    f.integer("M", op.columns);
    f.integer("k", op.offset);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::Linspace &op)
{
    f.real("start", op.start);
    f.optionalReal("stop", op.stop);
    f.integer("num", op.count);
    f.boolean("endpoint", op.endpoint);
    f.dtype("dtype", op.dtype);
}

void describe(OperatorFields &f, ops::Quadratic &op)
{
    f.real("a", op.a);
    f.real("b", op.b);
    f.real("c", op.c);
}

void describe(OperatorFields &f, ops::AllFinite &op)
{
    f.boolean("init_output", op.initialise);
    if (op.several)
        f.integer("num_arrays", op.inputs);
}

void describe(OperatorFields &f, ops::CtcLoss &op)
{
    static constexpr std::string_view kBlanks[] = {"first", "last"};
    f.boolean("use_data_lengths", op.useDataLengths);
    f.boolean("use_label_lengths", op.useLabelLengths);
    std::size_t blank = op.blankLast ? 1 : 0;
    f.choiceIndex("blank_label", blank, kBlanks);
    op.blankLast = blank == 1;
}

void describe(OperatorFields &f, ops::SvmOutput &op)
{
    f.real("margin", op.margin);
    f.real("regularization_coefficient", op.regularisation);
    f.boolean("use_linear", op.linear);
}

void describe(OperatorFields &f, ops::SparsityPenalty &op)
{
    f.real("sparseness_target", op.target);
    f.real("penalty", op.penalty);
    f.real("momentum", op.momentum);
}

} // namespace halftone::dialect::mxnet
