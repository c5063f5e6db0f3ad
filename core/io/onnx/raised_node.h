#pragma once

#include "core/base/result.h"
#include "core/dialect/dialect.h"

#include <onnx-ml.pb.h>

namespace halftone::io::onnx {

/// Writes a node of an older opset as one of `dialect`: attributes that are inputs there become initializers of `graph`, and
/// those that are gone, and said nothing but the default, are left out. Needs: a node as dialect::Dialect::raised() has it.
/// data  the type of its first input, which numbers beside it have; Unknown: float32
void raiseNode(const dialect::Dialect &dialect, tensor::DType data, ::onnx::NodeProto &node,
               ::onnx::GraphProto &graph);

/// Puts nodes around the last one, which is over its axis and all behind it, that make one axis of these and many again:
/// Flatten and Shape before it, Reshape behind it, which gives its output.
void flattenAround(const dialect::Dialect &dialect, ::onnx::GraphProto &graph);

} // namespace halftone::io::onnx
