#pragma once

#include <string>

namespace halftone::backends {

/// "x86-64 with AVX-512, 2 threads"
std::string processor();

} // namespace halftone::backends
