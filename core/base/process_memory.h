#pragma once

#include <cstdint>

namespace halftone {

/// The peak memory of this process (weights, values, plans, the program itself) in bytes; 0 if the system does not tell.
std::uint64_t peakMemory();

/// Returns freed memory of all threads to the system. Otherwise the C library keeps what lies between pieces in use, which after work on many
/// large values is most of a program's memory. Takes some milliseconds per gigabyte.
void returnFreedMemory() noexcept;

} // namespace halftone
