#include "core/base/freed_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace halftone {

void returnFreedMemory() noexcept
{
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

} // namespace halftone
