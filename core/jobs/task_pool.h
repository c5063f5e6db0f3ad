#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace halftone::session {

/// Threads that work tasks off while the one that makes them goes on. What the tasks hold on to is bounded.
class TaskPool
{
public:
    enum class Priority : std::uint8_t
    {
        Normal,
        Behind, ///< takes what processors the threads of normal priority leave, where the system can do that
    };

    explicit TaskPool(unsigned threads, Priority priority = Priority::Normal);
    ~TaskPool(); ///< works off what was submitted

    /// `bytes`: that the task keeps alive. Waits while the tasks that are not done keep more than a bound.
    void submit(std::function<void()> task, std::size_t bytes = 0);
    void wait(); ///< until all that was submitted is done

private:
    static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

    void work(const std::stop_token &ended);

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::deque<std::pair<std::function<void()>, std::size_t>> m_tasks;
    std::size_t m_bytes = 0; ///< of tasks that wait or run
    std::size_t m_open = 0; ///< tasks that wait or run
    std::vector<std::jthread> m_threads;
};

} // namespace halftone::session
