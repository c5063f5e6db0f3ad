#include "core/base/thread_priority.h"

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace halftone {

void lowerPriority([[maybe_unused]] int steps)
{
#ifdef __linux__
    const auto thread = static_cast<id_t>(gettid());
    setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + steps);
#endif
}

} // namespace halftone
