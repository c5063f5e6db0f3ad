#pragma once

#include "core/base/result.h"
#include "core/tensor/dtype.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// MXNet's operator attributes are text. These readers accept what MXNet 1.9.1 accepts
/// (core/io/mxnet/FORMATS.md, F-attributes) and blanks around it. Their errors say what was found and what was expected; `where` is left to
/// the caller, who knows node and attribute.
namespace halftone::dialect::mxnet {

/// A dimension, or nothing where the text says None: slice's end=(0, None).
using OptionalInteger = std::optional<std::int64_t>;

/// True for "None", which a nullable attribute may say.
bool isNone(std::string_view text);

/// "3", "-1", "+2", "3L".
Result<std::int64_t> readInteger(std::string_view text);
/// "0.9", "1e-5", "2", "inf", "nan".
Result<double> readReal(std::string_view text);
/// True, False, 1, 0; letters in any case.
Result<bool> readBoolean(std::string_view text);

/// "(3, 3)", "[3,3]", "(3,)", "()", "3" (one element); elements as readInteger takes them.
Result<std::vector<std::int64_t>> readTuple(std::string_view text);
/// The same, elements may be None; a bare None is one element.
Result<std::vector<OptionalInteger>> readOptionalTuple(std::string_view text);
/// The same forms with elements as readReal takes them.
Result<std::vector<double>> readRealTuple(std::string_view text);

/// A name that MXNet gives an element type: "float32", "bfloat16", "bool", …; people's short forms are
/// refused.
Result<tensor::DType> readDType(std::string_view text);

} // namespace halftone::dialect::mxnet
