#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/interpret/interpreter.h"
#include "core/walks/batches.h"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace halftone::walks {

/// The first batch, in order, that failed. Safe from any thread; who waits for something of a later batch is woken.
class BatchFailure
{
public:
    /// Whatever happens, those that wait are woken.
    void tell(std::size_t batch, Error &&error) noexcept;
    bool isBefore(std::size_t batch) const;

    /// Until `isReady`, which is called under the lock. False when an earlier batch has failed.
    template <class Ready>
    bool await(std::size_t batch, const Ready &isReady)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return isReady() || batch > m_batch; });
        return batch <= m_batch;
    }
    /// Something that others wait for, under the lock.
    template <class Change>
    void change(const Change &change)
    {
        const std::lock_guard lock(m_mutex);
        change();
        m_changed.notify_all();
    }

    /// Needs: nobody works any more.
    const std::optional<Error> &error() const { return m_error; }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::size_t m_batch = std::numeric_limits<std::size_t>::max();
    std::optional<Error> m_error;
};

/// Runs a model over batches side by side: each worker has an interpreter and computes whole batches on its share of the
/// threads. There is then no waiting between the parts of an operator, and what a batch computed is still in the caches when it is
/// looked at. What is computed does not depend on the number of threads.
class BatchWalk
{
public:
    /// threads   0: as many as the machine has
    /// eachAlone  one thread for each batch, whatever there are, so that kernels are always the same ones
    /// fails     what interpret::Interpreter refuses
    static Result<BatchWalk> create(const graph::Model &model, const Batches &batches,
                                    const std::string &backend, unsigned threads,
                                    tensor::DType accumulator = tensor::DType::Unknown,
                                    bool eachAlone = false);

    std::size_t workers() const { return m_interpreters.size(); }

    /// Computes one batch, on a thread of its own. The progress that it gets is that of the batch.
    using RunBatch = std::function<Result<void>(interpret::Interpreter &, std::size_t batch,
                                                const interpret::Feed &feed, const Progress &)>;

    /// All batches. Those behind one that failed are not begun. Progress is told by the calling thread.
    /// failure  where it is told, for others who work on the same batches
    void run(const ExampleSource &source, const RunBatch &runBatch, const Progress &progress,
             BatchFailure &failure);

private:
    Batches m_batches;
    std::vector<interpret::Interpreter> m_interpreters;
};

} // namespace halftone::walks
