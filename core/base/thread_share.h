#pragma once

#include <chrono>
#include <optional>

namespace halftone {

/// How long the calling thread has been ready to run while another one had its processor, since it began; Linux tells it in
/// /proc/thread-self/schedstat. Nothing where nobody counts that.
std::optional<std::chrono::nanoseconds> timeWaited();

/// Lets the calling thread, and those that it starts from now on, take what processors the threads before them leave. There is no way
/// back. Elsewhere than on Linux, where a priority is the whole process's, it does nothing.
/// steps  of setpriority(2): three leave half of the weight, ten a tenth
void stepBehind(int steps);

} // namespace halftone
