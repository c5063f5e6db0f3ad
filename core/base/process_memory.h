#pragma once

#include <cstdint>

namespace halftone {

/// The most memory that this process had at a time, all of it: weights, values, plans, the program itself. 0 where the system
/// does not say.
std::uint64_t peakMemory();

/// Gives memory that was freed back to the system, of all threads. The C library else keeps what lies between pieces in use,
/// which after work on many large values is most of a program's memory. Takes some milliseconds a gigabyte.
void returnFreedMemory() noexcept;

} // namespace halftone
