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

/// The first batch, in order, that failed. Thread-safe; wakes threads that wait for something of a later batch.
class BatchFailure
{
public:
    /// Wakes all waiting threads.
    void tell(std::size_t batch, Error &&error) noexcept;
    bool isBefore(std::size_t batch) const;

    /// Waits until `isReady`, which is called under the lock. False if an earlier batch has failed.
    template <class Ready>
    bool await(std::size_t batch, const Ready &isReady)
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return isReady() || batch > m_batch; });
        return batch <= m_batch;
    }
    /// Makes a change that others wait for, under the lock.
    template <class Change>
    void change(const Change &change)
    {
        const std::lock_guard lock(m_mutex);
        change();
        m_changed.notify_all();
    }

    /// Needs: all work has ended.
    const std::optional<Error> &error() const { return m_error; }

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::size_t m_batch = std::numeric_limits<std::size_t>::max();
    std::optional<Error> m_error;
};

/// Runs a model over batches in parallel: each worker has an interpreter and computes whole batches on its share of the threads. Threads do
/// not wait within operators, and values are still in the caches when they are read. Results do not depend on the number of threads.
class BatchWalk
{
public:
    /// threads   0: as many as the machine has
    /// eachAlone  one thread for each batch, so that the kernels are always the same
    /// fails      as interpret::Interpreter
    static Result<BatchWalk> create(const graph::Model &model, const Batches &batches,
                                    const std::string &backend, unsigned threads,
                                    tensor::DType accumulator = tensor::DType::Unknown,
                                    bool eachAlone = false);

    std::size_t workers() const { return m_interpreters.size(); }

    /// Computes one batch on its own thread. Receives the progress of that batch.
    using RunBatch = std::function<Result<void>(interpret::Interpreter &, std::size_t batch,
                                                const interpret::Feed &feed, const Progress &)>;

    /// Runs all batches; batches after a failed one are not started. Progress is reported on the calling thread.
    /// failure  receives the error; shared with other work on the same batches
    void run(const ExampleSource &source, const RunBatch &runBatch, const Progress &progress,
             BatchFailure &failure);

private:
    Batches m_batches;
    std::vector<interpret::Interpreter> m_interpreters;
};

} // namespace halftone::walks
