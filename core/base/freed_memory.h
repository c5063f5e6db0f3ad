#pragma once

namespace halftone {

/// Gives memory that was freed back to the system, of all threads. The C library else keeps what lies between pieces in use,
/// which after work on many large values is most of a program's memory. Takes some milliseconds a gigabyte.
void returnFreedMemory() noexcept;

} // namespace halftone
