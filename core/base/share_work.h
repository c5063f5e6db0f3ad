#pragma once

#include <cstddef>
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

/// Calls work(part, thread) for the parts 0 … parts - 1, each once, by at most as many threads: whichever is free takes the next one. After a
/// call that gives false none is begun. Waits and throws: as shareWork()
void shareParts(unsigned threads, std::size_t parts, const std::function<bool(std::size_t, unsigned)> &work);

} // namespace halftone
