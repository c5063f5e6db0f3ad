#pragma once

#include "core/base/result.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace halftone::walks {

/// Runs work in threads while the submitting thread continues. The memory that pending work keeps alive is bounded.
class WorkPool
{
public:
    enum class Priority : std::uint8_t
    {
        Normal,
        Low, ///< uses processors that threads of normal priority leave idle, if the system supports that
    };

    using Work = std::function<Result<void>()>;

    explicit WorkPool(unsigned threads, Priority priority = Priority::Normal);
    ~WorkPool(); ///< completes all submitted work

    /// Waits while pending work keeps more than a fixed number of bytes alive.
    /// bytes  that this work keeps alive
    void submit(Work item, std::size_t bytes = 0);
    /// Waits until all submitted work is done. fails: as the first work that failed or threw
    Result<void> wait();

private:
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

    void work(const std::stop_token &ended);
    void run(const Work &work);

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<std::pair<Work, std::size_t>> m_queue;
    std::size_t m_bytes = 0; ///< of pending work
    std::size_t m_open = 0; ///< number of pending pieces of work
    std::optional<Error> m_failure; ///< of the first work that failed
    std::vector<std::jthread> m_threads;
};

} // namespace halftone::walks
