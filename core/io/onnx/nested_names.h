#pragma once

#include <onnx-ml.pb.h>

#include <string>

namespace halftone::io::onnx {

/// Puts `prefix` before the names of nodes and values that bodies of the graph's nodes define, so that the nodes may come into
/// another graph: a body sees the names of all graphs around it, and may use none of them for its own.
void prefixNested(::onnx::GraphProto &graph, const std::string &prefix);

} // namespace halftone::io::onnx
