#pragma once

#include "core/base/result.h"
#include "core/dialect/dialect.h"

#include <onnx-ml.pb.h>

namespace halftone::io::onnx {

/// Writes a node of an older opset as one of `dialect`: attributes that are inputs there become initializers of `graph`, and
/// those that are gone, and said nothing but the default, are left out. Needs: dialect::Dialect::dialectFor() found that the
/// node means the same there.
void raiseNode(const dialect::Dialect &dialect, ::onnx::NodeProto &node, ::onnx::GraphProto &graph);

} // namespace halftone::io::onnx
