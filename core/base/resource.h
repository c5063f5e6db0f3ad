#pragma once

#include <string_view>

namespace halftone {

/// A file of resources/ that is compiled in, by its path there ("oplists/float16.json"); empty when there is
/// none of that name.
std::string_view resource(std::string_view path);

} // namespace halftone
