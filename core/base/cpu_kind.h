#pragma once

#include <string>

namespace halftone {

/// What decides which kernels a CPU computes with, and so the last bits of what they give: its name, the size of its cache and a
/// hash of its instruction sets, from /proc/cpuinfo; "unknown" where there is no such file.
std::string cpuKind();

} // namespace halftone
