#include "core/base/share_work.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace halftone {
namespace {

/// The first failure of several threads.
class FirstFailure
{
public:
    void take() noexcept
    {
        const std::lock_guard lock(m_mutex);
        if (!m_failure)
            m_failure = std::current_exception();
    }
    void throwAgain() const
    {
        if (m_failure)
            std::rethrow_exception(m_failure);
    }

private:
    std::mutex m_mutex;
    std::exception_ptr m_failure;
};

} // namespace

unsigned machineThreads()
{
    return std::max(1U, std::thread::hardware_concurrency());
}

unsigned threadsFor(unsigned asked)
{
    return asked > 0 ? asked : machineThreads();
}

void shareWork(unsigned threads, const std::function<void(unsigned)> &work)
{
    FirstFailure failure;
    const auto call = [&](unsigned k) noexcept {
        try {
            work(k);
        } catch (...) {
            failure.take();
        }
    };
    {
        std::vector<std::jthread> others;
        others.reserve(threads);
        try {
            for (unsigned k = 1; k < threads; ++k)
                others.emplace_back(call, k);
        } catch (const std::system_error &) { // those that there are do it
        } catch (const std::bad_alloc &) {
        }
        call(0);
    }
    failure.throwAgain();
}

void shareParts(unsigned threads, std::size_t parts, const std::function<bool(std::size_t, unsigned)> &work)
{
    std::atomic<std::size_t> next = 0;
    threads = static_cast<unsigned>(std::min<std::size_t>(parts, threads));
    shareWork(threads, [&](unsigned thread) {
        for (std::size_t part = next++; part < parts; part = next++)
            if (!work(part, thread))
                next = parts;
    });
}

} // namespace halftone
