#pragma once

#include <cstddef>
#include <memory>

namespace halftone {

/// While one of these lives, large buffers come from the system and go back to it once they are freed. The C library else keeps them for
/// the next ones of their size, and what lies between them too, so that a process takes up to twice what is in use; it is faster, since
/// pages need not be cleared. Of all threads.
class FrugalMemory
{
public:
    FrugalMemory();
    ~FrugalMemory();
    FrugalMemory(const FrugalMemory &) = delete;
    FrugalMemory &operator=(const FrugalMemory &) = delete;

    /// Whether a buffer of so many bytes is to come from newPages().
    static bool wants(std::size_t bytes);
    /// Aligned to a page. Null where there is no memory.
    static std::shared_ptr<std::byte> newPages(std::size_t bytes);

    /// The most bytes of such buffers at a time, since restartPeak().
    static std::size_t peakBytes();
    static void restartPeak();
};

} // namespace halftone
