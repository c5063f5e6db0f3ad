#include "core/kernels/workers.h"

#include "core/base/share_work.h"

#include <algorithm>

namespace halftone::kernels {

void Workers::share(std::size_t count, std::size_t cost,
                    const std::function<void(std::size_t, std::size_t)> &part) const
{
    // A thread costs some tens of microseconds; a range should be short enough to stop within a fraction of a second.
    constexpr std::size_t kWorthAThread = 1 << 19;
    constexpr std::size_t kRangeCost = 1 << 22;
    const std::size_t step = std::max<std::size_t>(1, kRangeCost / std::max<std::size_t>(cost, 1));
    const std::size_t ranges = count / step + (count % step != 0 ? 1 : 0);
    const bool small = count == 0 || cost < kWorthAThread / count;
    const std::size_t threads = small ? 1 : std::min<std::size_t>(m_threads, count);
    const std::size_t length
        = ranges >= threads ? step : std::max<std::size_t>(1, (count + threads - 1) / threads);

    std::atomic<std::size_t> next = 0;
    shareWork(static_cast<unsigned>(threads), [&](unsigned) {
        for (std::size_t begin = next.fetch_add(length); begin < count && !stopped();
             begin = next.fetch_add(length))
            part(begin, std::min(count, begin + length));
    });
}

} // namespace halftone::kernels
