#pragma once

#include <string>

namespace halftone::backends {

/// Threads that the machine runs at once.
unsigned machineThreads();

/// "x86-64 with AVX-512, 2 threads"
std::string processor();

} // namespace halftone::backends
