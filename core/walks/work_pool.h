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

/// Threads that work tasks off while the one that makes them goes on. What the tasks hold on to is bounded.
class WorkPool
{
public:
    enum class Priority : std::uint8_t
    {
        Normal,
        Behind, ///< takes what processors the threads of normal priority leave, where the system can do that
    };

    using Task = std::function<Result<void>()>;

    explicit WorkPool(unsigned threads, Priority priority = Priority::Normal);
    ~WorkPool(); ///< works off what was submitted

    /// `bytes`: that the task keeps alive. Waits while the tasks that are not done keep more than a bound.
    void submit(Task task, std::size_t bytes = 0);
    /// Until all that was submitted is done. fails: as the first task that did, or threw
    Result<void> wait();

private:
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

    void work(const std::stop_token &ended);
    void run(const Task &task);

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<std::pair<Task, std::size_t>> m_tasks;
    std::size_t m_bytes = 0; ///< of tasks that wait or run
    std::size_t m_open = 0; ///< tasks that wait or run
    std::optional<Error> m_failure; ///< of the first task that failed
    std::vector<std::jthread> m_threads;
};

} // namespace halftone::walks
