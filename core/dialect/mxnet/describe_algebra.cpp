#include "core/dialect/mxnet/operator_describe.h"

namespace halftone::dialect::mxnet {

void describe(OperatorFields &f, ops::LinearAlgebra &op)
{
    // An attribute that the operator of this kind lacks is passed over.
    f.real("alpha", op.alpha);
    f.boolean("transpose", op.transpose);
    f.boolean("rightside", op.rightSide);
    f.boolean("lower", op.lower);
    f.integer("offset", op.offset);
}

void describe(OperatorFields &f, ops::ColumnKronecker &op)
{
    f.integer("num_args", op.inputs);
}

void describe(OperatorFields &, ops::DFT &) { }

} // namespace halftone::dialect::mxnet
