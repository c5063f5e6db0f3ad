#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// How attributes of ONNX nodes are written as text: 3, 0.5, a text as it is, and lists of them in brackets.
namespace halftone::dialect::onnx {

std::string listText(std::span<const std::int64_t> values); ///< "[1,2]"
std::string realText(float value); ///< the shortest text that gives the value again
std::string listText(std::span<const float> values);
/// "[tanh,relu]"; commas, brackets and backslashes within a text stand behind a backslash.
std::string listText(std::span<const std::string> values);

std::optional<std::vector<std::int64_t>> integersIn(std::string_view text);
std::optional<std::vector<double>> realsIn(std::string_view text);
std::optional<std::vector<std::string>> textsIn(std::string_view text);

} // namespace halftone::dialect::onnx
