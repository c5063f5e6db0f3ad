#include "core/base/process_memory.h"

#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace halftone {

std::uint64_t peakMemory()
{
    constexpr std::uint64_t kUnit = 1024; // bytes of ru_maxrss on Linux
    rusage usage{};
    return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * kUnit : 0;
}

void returnFreedMemory() noexcept
{
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

} // namespace halftone
