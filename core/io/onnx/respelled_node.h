#pragma once

#include "core/dialect/dialect.h"

#include <onnx-ml.pb.h>

#include <string>

/// Operators that mean something else in newer opsets, as several nodes of these that compute what they did. Needs: a node as
/// dialect::Dialect::raised() has it.
namespace halftone::io::onnx {

/// What a cast of ours reads that gives `value`, or `value`: whoever converts the result will take its shape from there.
std::string beforeCast(const dialect::Dialect &dialect, const std::string &value,
                       const ::onnx::GraphProto &graph);

/// The last node of the graph is a GroupNormalization with a scale and a bias for each group: nodes before it repeat them for the group's
/// channels, whose number the data's shape tells.
void spreadScales(const dialect::Dialect &dialect, ::onnx::GraphProto &graph);

/// A Scan as of opset 8, without lengths of its sequences: becomes one over the batch, whose body is one over the steps.
void batchAround(::onnx::NodeProto &scan);

} // namespace halftone::io::onnx
