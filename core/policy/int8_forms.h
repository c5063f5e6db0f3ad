#pragma once

#include <span>
#include <string_view>

namespace halftone::policy {

/// The operators that MXNet 1.9.1 and Halftone's quantizer have int8 forms of, by canonical name; whether one node can take
/// it depends on its attributes (spec: calibration-int8, section 2).
std::span<const std::string_view> int8Operators();
bool hasInt8Form(std::string_view op); ///< op: canonical

} // namespace halftone::policy
