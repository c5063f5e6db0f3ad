#pragma once

#include "core/dialect/dialect.h"
#include "core/dialect/own_calls.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace halftone::dialect::onnx {

/// The word for variables: inputs, initializers, and what a body reads of the graph around it.
inline constexpr std::string_view kVariableOp = "Input";
/// Of a variable: its element type as tensor::nameOf() or ONNX calls it, and its shape, "[N,3,224,224]".
inline constexpr std::string_view kTypeKey = "type";
inline constexpr std::string_view kShapeKey = "shape";
/// Of an input of the main graph that has an initializer, as of IR 4 (dialect::DefaultValue).
inline constexpr std::string_view kDefaultKey = "default";
inline constexpr std::string_view kOverridableDefault = "overridable";
inline constexpr std::string_view kListedDefault = "listed";

/// Captured values are inputs of a node behind its own: their slots begin here, and the variables of its bodies that stand
/// for them say which one under this key.
inline constexpr std::uint32_t kFirstCapturedSlot = 1U << 16;
inline constexpr std::string_view kCapturedKey = "outer";
/// Of a variable of a body: which of the body's own inputs it is.
inline constexpr std::string_view kBodyInputKey = "inner";

/// Of a node that calls a function, whose body it holds: which. No file says it.
inline constexpr std::string_view kCallKey = "calls()";
/// With a call of a function of the model itself, which its file holds.
using dialect::kOwnCallKey;
/// With a call that is only run in that body's place, and stays where calls are replaced by their bodies.
inline constexpr std::string_view kStandsKey = "stands()";

/// Of a node as a file has it: the names of attributes that its operator does not have in the file's opset, as a list. Such a node is
/// shown and written, and not computed.
inline constexpr std::string_view kUnknownKey = "unknown()";

/// Of Softmax, LogSoftmax and Hardmax of opset 13 or newer, taken over from before: over the axis and all behind it, as it was
/// until then. No file says it: they are written as nodes that reshape around one over the last axis.
inline constexpr std::string_view kFlattenedKey = "flattened";
/// Of GroupNormalization of opset 21 or newer, taken over from before: its scales are those of groups. Written as one whose scales are made of
/// them by nodes before it.
inline constexpr std::string_view kGroupScalesKey = "group scales";
/// Of Scan of opset 9 or newer, taken over from before: the first axis is a batch, slots and attributes are those of opset 8. Written as a Scan
/// over the batch around one over the steps.
inline constexpr std::string_view kBatchedKey = "batched";

/// ONNX as it is with that opset of ai.onnx; older than kOldestOpset: as kOldestOpset, but operators that changed
/// since are unknown. Needs: 1 to kNewestOpset.
const Dialect &onnxDialect(int opset);
/// Of a dialect that onnxDialect() gave.
int opsetOf(const Dialect &dialect);

/// "Conv", and "com.microsoft.Gelu" for an operator of another domain than ai.onnx.
std::string qualifiedName(std::string_view domain, std::string_view op);

} // namespace halftone::dialect::onnx
