#pragma once

#include <chrono>
#include <optional>

namespace halftone {

/// How long the calling thread has been ready to run while another one had its processor, since it began; Linux tells it in
/// /proc/thread-self/schedstat. Nothing where nobody counts that.
std::optional<std::chrono::nanoseconds> timeWaited();

} // namespace halftone
