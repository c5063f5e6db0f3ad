#pragma once

#include <cstdint>

namespace halftone {

/// The most memory that this process had at a time, all of it: weights, values, plans, the program itself. 0 where the system
/// does not say.
std::uint64_t peakMemory();

} // namespace halftone
