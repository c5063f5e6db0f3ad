#pragma once

#include "core/base/result.h"
#include "core/io/onnx/source.h"

#include <onnx-ml.pb.h>

namespace halftone::io::onnx {

/// Writes the functions of a model that is raised to `opset` as functions of that opset, too: checkers and runtimes refuse operators that
/// mean one thing in a function and another in the graph. What a function imports of other domains stays.
/// source  the file that the functions come from; where it is no older than `opset`, nothing happens
/// fails   Unsupported for a node that means something else there, and for an attribute of one that the function's call gives
///         and that is another there; BadInput for a function that is no graph
Result<void> raiseFunctions(const Source &source, int opset, ::onnx::ModelProto &model);

} // namespace halftone::io::onnx
