#include "core/base/share_work.h"

#include <algorithm>
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

} // namespace halftone
