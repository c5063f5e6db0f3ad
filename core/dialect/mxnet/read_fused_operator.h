#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"

namespace halftone::dialect::mxnet {

/// readOperator(), but ops::FusedProduct for a layer on codes that MXNet's oneDNN backend has fused (`_sg_mkldnn_conv`,
/// `_sg_onednn_fully_connected`, …), whose body says what it computes. Fused operators on reals stay opaque.
/// fails: as readOperator(); Unsupported or BadInput for a body of another form (where = the node)
Result<ops::Operator> readFusedOperator(const graph::NodeDef &node);

} // namespace halftone::dialect::mxnet
