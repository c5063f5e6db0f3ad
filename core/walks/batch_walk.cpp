#include "core/walks/batch_walk.h"

#include "core/backends/backends.h"
#include "core/base/guarded.h"
#include "core/base/share_work.h"

#include <algorithm>
#include <atomic>

namespace halftone::walks {
namespace {

/// Activations, and packed weights, of so many batches at once are enough.
constexpr std::size_t kMostWorkers = 8;

} // namespace

void BatchFailure::tell(std::size_t batch, Error &&error) noexcept
{
    const std::lock_guard lock(m_mutex);
    if (batch < m_batch) {
        m_batch = batch;
        m_error = std::move(error);
    }
    m_changed.notify_all();
}

bool BatchFailure::isBefore(std::size_t batch) const
{
    const std::lock_guard lock(m_mutex);
    return m_batch < batch;
}

Result<BatchWalk> BatchWalk::create(const graph::Model &model, const Batches &batches,
                                    const std::string &backend, unsigned threads, tensor::DType accumulator,
                                    bool eachAlone)
{
    const unsigned all = threadsFor(threads);
    const auto workers = static_cast<unsigned>(std::min({batches.count, std::size_t{all}, kMostWorkers}));
    HALFTONE_TRY(const graph::Model shared, interpret::withReadableParameters(model));
    HALFTONE_TRY(const kernels::BackendChain backends,
                 backends::backendChain(backend, eachAlone ? 1 : std::max(all / workers, 1U),
                                        backends::Arithmetic::Defined, accumulator));
    BatchWalk walk;
    walk.m_batches = batches;
    for (unsigned k = 0; k < workers; ++k) {
        HALFTONE_TRY(interpret::Interpreter interpreter, interpret::Interpreter::create(shared, backends));
        walk.m_interpreters.push_back(std::move(interpreter));
    }
    return walk;
}

void BatchWalk::run(const ExampleSource &source, const RunBatch &runBatch, const Progress &progress,
                    BatchFailure &failure)
{
    std::vector<std::atomic<double>> shares(m_batches.count); // done of each batch
    const auto told = [&](std::size_t batch, const Progress &to) {
        return Progress{progress.stop, [&, batch](double done, std::string_view what) {
                            shares[batch] = done;
                            double all = 0;
                            for (const std::atomic<double> &share : shares)
                                all += share;
                            to.tell(all / static_cast<double>(m_batches.count), what);
                        }};
    };
    const auto workers = static_cast<unsigned>(m_interpreters.size());
    shareParts(workers, m_batches.count, [&](std::size_t k, unsigned worker) {
        if (failure.isBefore(k))
            return false;
        const Progress to = worker == 0 ? progress : Progress();
        Result<void> ran = guarded([&]() -> Result<void> {
            HALFTONE_CHECK(progress.checkStop());
            HALFTONE_TRY(const interpret::Feed feed, m_batches.feed(source, k));
            return runBatch(m_interpreters[worker], k, feed, told(k, to));
        });
        shares[k] = 1;
        if (!ran.ok())
            failure.tell(k, std::move(ran).error());
        return true;
    });
    if (!progress.stopped())
        progress.tell(1, "examples"); // else unsaid where the other threads took all batches
}

} // namespace halftone::walks
