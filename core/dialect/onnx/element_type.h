#pragma once

#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>
#include <string_view>

/// The element types of ONNX's TensorProto.DataType.
namespace halftone::dialect::onnx {

/// Ours of that code; nothing for a code that ONNX lacks, Unknown for one of a type that we cannot compute with (string,
/// complex, and the float8 that are not of OCP's two formats).
std::optional<tensor::DType> dtypeOfCode(std::int64_t code);
/// Needs: not Unknown.
std::int64_t codeOf(tensor::DType type);
/// As ONNX spells it in lower case: "float32", "float8e4m3fn", "string"; "undefined" for a code that it lacks.
std::string_view nameOfCode(std::int64_t code);
/// Is it what nameOfCode() calls a type that we cannot compute with?
bool isForeign(std::string_view name);
/// Bits of one element as ONNX stores it; 0 for texts and codes that it lacks.
int bitsOfCode(std::int64_t code);

} // namespace halftone::dialect::onnx
