#pragma once

#include "core/dialect/dialect.h"

#include <string_view>

namespace halftone::dialect::tflite {

/// The word for variables: inputs, constants and states.
inline constexpr std::string_view kVariableOp = "Tensor";
/// Of an input: its element type as tensor::nameOf() has it, and its shape, "[1,?,224,3]".
inline constexpr std::string_view kTypeKey = "type";
inline constexpr std::string_view kShapeKey = "shape";
/// Of a node: the types of its outputs, "int8,float32"; "?" for one that is not supported.
inline constexpr std::string_view kTypesKey = "types";
/// Of a node: the types of its inputs in the file, likewise.
inline constexpr std::string_view kInputTypesKey = "input_types";
/// Of a variable of a body: which input of the node it is.
inline constexpr std::string_view kBodyInputKey = "inner";
/// Of a node whose second input is a constant weight: its shape, "[8,3,3,1]". Short constants that say what a node computes are
/// attributes with the name of their input.
inline constexpr std::string_view kWeightShapeKey = "weight_shape";
/// In bodies alone: the groups of a CONV_2D, the axis of codes with a scale a place.
inline constexpr std::string_view kGroupsKey = "groups";
inline constexpr std::string_view kAxisKey = "quantized_dimension";
/// The operator of a constant of a body, and of one in the file whose type is not supported.
inline constexpr std::string_view kConstantOp = "CONSTANT";
/// The operator that passes its input on.
inline constexpr std::string_view kCopyOp = "COPY";
/// Of a node that is shown and not computed: why.
inline constexpr std::string_view kShownOnlyKey = "not computed";

/// TensorFlow Lite, schema 3. What a node computes on codes, or with an activation behind it, is said by its body: a graph of
/// operators on reals, with DEQUANTIZE(codes, scales[, zero points]) and QUANTIZE(reals, scales[, zero points]) around them.
const Dialect &tfliteDialect();

} // namespace halftone::dialect::tflite
