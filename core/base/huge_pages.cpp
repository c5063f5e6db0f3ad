#include "core/base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace halftone {

void wantHugePages(void *memory, std::size_t bytes) noexcept
{
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t begin = (address + kHugePage - 1) / kHugePage * kHugePage;
    const std::uintptr_t end = (address + bytes) / kHugePage * kHugePage;
    if (begin < end)
        ::madvise(static_cast<std::byte *>(memory) + (begin - address), end - begin, MADV_HUGEPAGE);
}

} // namespace halftone
