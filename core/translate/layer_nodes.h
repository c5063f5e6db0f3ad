#pragma once

#include "core/ops/op_linear.h"
#include "core/ops/op_spatial.h"
#include "core/translate/node_writer.h"

/// Layers as nodes, for those who have other values in hand than the inputs of the source's node.
namespace halftone::translate {

/// inputs  data, weight, bias (kNone: none)
Result<Value> convolved(NodeWriter &to, const ops::Conv &op, const Values &inputs);
Value fullyConnected(NodeWriter &to, const ops::FullyConnected &op, const Values &inputs);
/// data  of the shape of the node's first input
Result<Value> pooled(NodeWriter &to, const ops::Pool &op, const Value &data);

} // namespace halftone::translate
