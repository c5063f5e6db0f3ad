#include "core/backends/onednn/loops/quiet_waits.h"

#include <omp.h>

#include <atomic>

namespace halftone::backends::onednn {

QuietWaits::QuietWaits()
    : m_holder([this] {
        // A team belongs to the thread that began it and stays, asleep, as long as that thread does: one more thread than
        // processors, and libgomp waits for GOMP_SPINCOUNT's short, "throttled" time everywhere.
        // They count themselves, since an optimiser drops a region that does nothing.
        std::atomic<int> team = 0;
#pragma omp parallel num_threads(omp_get_num_procs() + 1)
        {
            ++team;
        }
        m_begun.release();
        m_ended.acquire();
    })
{
    m_begun.acquire();
}

QuietWaits::~QuietWaits()
{
    m_ended.release();
    m_holder.join();
}

} // namespace halftone::backends::onednn
