#pragma once

#include "core/base/result.h"
#include "core/hardware/description.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace halftone::hardware {

inline constexpr std::size_t kLongestDescription = std::size_t{1} << 20;

/// Reads a description (resources/hardware/README.md). All keys but `note`, `fp32_gflop_s` and `measured` are needed, none may stand twice, none
/// beside them; each class has all types.
/// fails: BadInput with the JSON path ("classes.conv.fp16.support"), or "byte N" where the text is no JSON
Result<Description> readDescription(std::string_view json);

/// The file that reads as `description`, in the order of resources/hardware.
std::string writeDescription(const Description &description);

} // namespace halftone::hardware
