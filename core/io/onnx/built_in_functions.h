#pragma once

#include <onnx-ml.pb.h>

#include <string_view>
#include <vector>

namespace halftone::io::onnx {

/// The operator of a node that says: this form of the operator is not said.
inline constexpr std::string_view kNotSaid = "none";
/// The operator of one that says: what the function gives only stands for what the operator gives.
inline constexpr std::string_view kStandsFor = "stands";

/// Operators of other domains, said by operators of ai.onnx: resources/onnx/functions.json, which tells its own form. A node's doc string says
/// of which calls it is a part.
const std::vector<::onnx::FunctionProto> &builtInFunctions();

} // namespace halftone::io::onnx
