#include "core/jobs/task_pool.h"

#include "core/base/guarded.h"
#include "core/base/thread_share.h"

#include <new>
#include <system_error>
#include <utility>

namespace halftone::jobs {
namespace {

constexpr int kStepsBehind = 10;

} // namespace

TaskPool::TaskPool(unsigned threads, Priority priority)
{
    try {
        m_threads.reserve(threads);
        for (unsigned k = 0; k < threads; ++k) {
            m_threads.emplace_back([this, priority](const std::stop_token &ended) {
                if (priority == Priority::Behind)
                    stepBehind(kStepsBehind);
                work(ended);
            });
        }
    } catch (const std::system_error &) { // those that there are do it; without any, submit() does
    } catch (const std::bad_alloc &) {
    }
}

TaskPool::~TaskPool()
{
    static_cast<void>(wait()); // who wants to know has asked
}

void TaskPool::submit(Task task, std::size_t bytes)
{
    std::unique_lock lock(m_mutex);
    if (m_threads.empty()) {
        lock.unlock();
        run(task);
        return;
    }
    m_changed.wait(lock, [&] { return m_bytes == 0 || m_bytes + bytes <= kMostBytes; });
    m_tasks.emplace_back(std::move(task), bytes);
    m_bytes += bytes;
    ++m_open;
    m_changed.notify_all();
}

Result<void> TaskPool::wait()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_open == 0; });
    return m_failure ? Result<void>(*m_failure) : Result<void>();
}

void TaskPool::run(const Task &task)
{
    Result<void> done = guarded(task);
    const std::lock_guard lock(m_mutex);
    if (!done.ok() && !m_failure)
        m_failure = std::move(done).error();
}

void TaskPool::work(const std::stop_token &ended)
{
    std::unique_lock lock(m_mutex);
    while (m_changed.wait(lock, ended, [this] { return !m_tasks.empty(); })) {
        auto [task, bytes] = std::move(m_tasks.front());
        m_tasks.pop_front();
        lock.unlock();
        run(task);
        task = nullptr; // before its bytes count as free
        lock.lock();
        m_bytes -= bytes;
        --m_open;
        m_changed.notify_all();
    }
}

} // namespace halftone::jobs
