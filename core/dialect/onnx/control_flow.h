#pragma once

#include "core/graph/graph.h"
#include "core/ops/operator.h"

namespace halftone::dialect::onnx {

/// If, Loop, Scan or SequenceMap as of the opset: which inputs of the node the variables of its bodies are. Opaque where a body does not say it, or has
/// fewer heads than the node needs.
ops::Operator readControlFlow(const graph::NodeDef &node, int opset);

} // namespace halftone::dialect::onnx
