#pragma once

#include <string_view>

/// Semantic versioning (semver.org): while the first number is 0, programs must be recompiled when the second one changes. CMakeLists.txt
/// reads these numbers.
#define HALFTONE_VERSION_MAJOR 0
#define HALFTONE_VERSION_MINOR 1
#define HALFTONE_VERSION_PATCH 0

#define HALFTONE_DETAIL_TEXT_OF(x) #x
#define HALFTONE_DETAIL_TEXT(x) HALFTONE_DETAIL_TEXT_OF(x)
/// The version of these headers as a string literal: "0.1.0".
#define HALFTONE_VERSION                                                                                     \
    HALFTONE_DETAIL_TEXT(HALFTONE_VERSION_MAJOR)                                                             \
    "." HALFTONE_DETAIL_TEXT(HALFTONE_VERSION_MINOR) "." HALFTONE_DETAIL_TEXT(HALFTONE_VERSION_PATCH)

namespace halftone::api {

/// Version of the linked library, e.g. "0.1.0".
std::string_view version();

} // namespace halftone::api
