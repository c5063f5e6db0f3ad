#include "core/session/task_pool.h"

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <utility>

namespace halftone::session {
namespace {

/// Of the calling thread.
void stepBehind()
{
#ifdef __linux__ // elsewhere a priority is the whole process's
    constexpr int kSteps = 10; // a tenth of the weight
    const auto thread = static_cast<id_t>(gettid());
    setpriority(PRIO_PROCESS, thread, getpriority(PRIO_PROCESS, thread) + kSteps);
#endif
}

} // namespace

TaskPool::TaskPool(unsigned threads, Priority priority)
{
    for (unsigned k = 0; k < threads; ++k) {
        m_threads.emplace_back([this, priority](const std::stop_token &ended) {
            if (priority == Priority::Behind)
                stepBehind();
            work(ended);
        });
    }
}

TaskPool::~TaskPool()
{
    wait();
}

void TaskPool::submit(std::function<void()> task, std::size_t bytes)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_bytes == 0 || m_bytes + bytes <= kMostBytes; });
    m_bytes += bytes;
    ++m_open;
    m_tasks.emplace_back(std::move(task), bytes);
    m_changed.notify_all();
}

void TaskPool::wait()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_open == 0; });
}

void TaskPool::work(const std::stop_token &ended)
{
    std::unique_lock lock(m_mutex);
    while (m_changed.wait(lock, ended, [this] { return !m_tasks.empty(); })) {
        auto [task, bytes] = std::move(m_tasks.front());
        m_tasks.pop_front();
        lock.unlock();
        task();
        task = nullptr; // before its bytes count as free
        lock.lock();
        m_bytes -= bytes;
        --m_open;
        m_changed.notify_all();
    }
}

} // namespace halftone::session
