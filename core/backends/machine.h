#pragma once

#include "core/base/share_work.h"

#include <string>

namespace halftone::backends {

using halftone::machineThreads;

/// "x86-64 with AVX-512, 2 threads"
std::string processor();

} // namespace halftone::backends
