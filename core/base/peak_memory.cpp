#include "core/base/peak_memory.h"

#include <sys/resource.h>

namespace halftone {

std::uint64_t peakMemory()
{
    constexpr std::uint64_t kUnit = 1024; // bytes of ru_maxrss on Linux
    rusage usage{};
    return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * kUnit : 0;
}

} // namespace halftone
