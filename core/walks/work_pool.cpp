#include "core/walks/work_pool.h"

#include "core/base/guarded.h"
#include "core/base/thread_share.h"

#include <new>
#include <system_error>
#include <utility>

namespace halftone::walks {
namespace {

constexpr int kNicer = 10;

} // namespace

WorkPool::WorkPool(unsigned threads, Priority priority)
{
    try {
        m_threads.reserve(threads);
        for (unsigned k = 0; k < threads; ++k) {
            m_threads.emplace_back([this, priority](const std::stop_token &ended) {
                if (priority == Priority::Low)
                    lowerPriority(kNicer);
                work(ended);
            });
        }
    } catch (const std::system_error &) { // those that there are do it; without any, submit() does
    } catch (const std::bad_alloc &) {
    }
}

WorkPool::~WorkPool()
{
    static_cast<void>(wait()); // who wants to know has asked
}

void WorkPool::submit(Work item, std::size_t bytes)
{
    std::unique_lock lock(m_mutex);
    if (m_threads.empty()) {
        lock.unlock();
        run(item);
        return;
    }
    m_changed.wait(lock, [&] { return m_bytes == 0 || m_bytes + bytes <= kMostBytes; });
    m_queue.emplace_back(std::move(item), bytes);
    m_bytes += bytes;
    ++m_open;
    m_changed.notify_all();
}

Result<void> WorkPool::wait()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_open == 0; });
    return m_failure ? Result<void>(*m_failure) : Result<void>();
}

void WorkPool::run(const Work &item)
{
    Result<void> done = guarded(item);
    const std::lock_guard lock(m_mutex);
    if (!done.ok() && !m_failure)
        m_failure = std::move(done).error();
}

void WorkPool::work(const std::stop_token &ended)
{
    std::unique_lock lock(m_mutex);
    while (m_changed.wait(lock, ended, [this] { return !m_queue.empty(); })) {
        auto [item, bytes] = std::move(m_queue.front());
        m_queue.pop_front();
        lock.unlock();
        run(item);
        item = nullptr; // before its bytes count as free
        lock.lock();
        m_bytes -= bytes;
        --m_open;
        m_changed.notify_all();
    }
}

} // namespace halftone::walks
