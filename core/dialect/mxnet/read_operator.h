#pragma once

#include "core/base/result.h"
#include "core/dialect/dialect.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"

namespace halftone::dialect::mxnet {

/// The typed form of a node: its attributes, with MXNet's defaults where they are not written. Attributes
/// that change no result (cudnn_off, workspace, …) are not in it. A variable, an operator that MXNet lacks,
/// and one that has no struct give ops::Opaque. fails: Errc::BadInput; `where` is "NODE: ATTRIBUTE".
Result<ops::Operator> readOperator(const graph::NodeDef &node);

/// The way back: readOperator() of the result gives `op` again.
/// fails: Errc::Unsupported when MXNet 1.x cannot say it (padding that differs at the two ends, rank 0,
/// ops::Opaque).
Result<OperatorText> writeOperator(const ops::Operator &op);

} // namespace halftone::dialect::mxnet
