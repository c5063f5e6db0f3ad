#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <stop_token>

namespace halftone::kernels {

/// How kernels share their work among threads and learn that they are to stop. The result never depends on the
/// number of threads: each part is computed by one thread, alone.
class Workers
{
public:
    explicit Workers(unsigned threads)
        : m_threads(threads)
    {
    }

    /// Calls `part(begin, end)` for ranges that cover [0, count). `cost` is a rough number of operations for one
    /// item: little work stays on the calling thread. After a stop request the remaining ranges are left out.
    void share(std::size_t count, std::size_t cost,
               const std::function<void(std::size_t, std::size_t)> &part) const;

    void setStop(std::stop_token stop) { m_stop = std::move(stop); }
    bool stopped() const { return m_stop.stop_requested(); }

private:
    unsigned m_threads;
    std::stop_token m_stop;
};

} // namespace halftone::kernels
