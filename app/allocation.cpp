#include "core/base/memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

// Allocation for the programs. The standard library's does not say how much could not be had. The deallocation that goes
// with malloc() is the standard one.

// Sanitizers bring their own, which they compare with the way memory is given back.
#ifndef HALFTONE_SANITIZED

namespace {

/// The system grants what it does not have, and ends the program when it is touched.
bool isThere(std::size_t bytes)
{
    return bytes < halftone::kLargeRequest || bytes <= halftone::availableMemory();
}

void *allocate(std::size_t bytes)
{
    return isThere(bytes) ? std::malloc(std::max(bytes, std::size_t{1})) : nullptr;
}

void *allocate(std::size_t bytes, std::size_t unit)
{
    const std::size_t whole = (std::max(bytes, std::size_t{1}) + unit - 1) / unit * unit;
    return isThere(bytes) ? std::aligned_alloc(unit, whole) : nullptr;
}

void *orThrow(void *memory, std::size_t bytes)
{
    if (memory == nullptr) {
        halftone::noteRefusal(bytes);
        halftone::releaseReserve();
        throw halftone::OutOfMemory(bytes);
    }
    return memory;
}

} // namespace

void *operator new(std::size_t bytes)
{
    return orThrow(allocate(bytes), bytes);
}

void *operator new(std::size_t bytes, std::align_val_t alignment)
{
    return orThrow(allocate(bytes, static_cast<std::size_t>(alignment)), bytes);
}

/// oneDNN's: it does not always look whether it got something.
extern "C" int posix_memalign(void **memory, std::size_t alignment, std::size_t bytes) noexcept
{
    *memory = allocate(bytes, alignment);
    if (*memory != nullptr)
        return 0;
    halftone::noteRefusal(bytes);
    return ENOMEM;
}

#endif
