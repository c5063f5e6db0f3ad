#pragma once

#include <string_view>

namespace halftone::dialect::onnx {

/// What values between the nodes are called that an operator of an older opset becomes (kFlattenedKey), behind the name of what it gives.
inline constexpr std::string_view kMatrixSuffix = "_matrix"; ///< of Flatten, which the operator reads
inline constexpr std::string_view kFlatSuffix = "_flat"; ///< of the operator, which Reshape reads
inline constexpr std::string_view kShapeSuffix = "_shape"; ///< of Shape, likewise

} // namespace halftone::dialect::onnx
