#pragma once

#include <functional>

namespace halftone {

/// Threads that the machine runs at once.
unsigned machineThreads();

/// What was asked for; where that is 0, as many as the machine runs at once.
unsigned threadsFor(unsigned asked);

/// Calls work(0) … work(threads - 1), the first on this thread and each other on one of its own, and waits for all. Threads
/// that the system does not grant are left out, so that work has to be such that one call does what the others do not.
/// What a call throws is thrown again here when all have ended.
void shareWork(unsigned threads, const std::function<void(unsigned)> &work);

} // namespace halftone
