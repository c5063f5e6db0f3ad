#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The operators as typed structs, shared by all formats. (Structs and the variant are filled in by the author of this room.)
namespace halftone::ops {

} // namespace halftone::ops
