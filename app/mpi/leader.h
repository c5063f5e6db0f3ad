#pragma once

#include "app/mpi/call.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace halftone::mpi {

/// Rank 0: hands out the shards that the journal lacks, and merges all of them.
class Leader
{
public:
    Leader(const Call &call, int ranks);

    /// fails: BadInput for a journal of another call, a task that failed or took too long, a disk that is full
    Result<void> run();

private:
    using Clock = std::chrono::steady_clock;
    struct Worker
    {
        std::string host;
        std::optional<std::size_t> task;
        Clock::time_point since;
        std::size_t done = 0;
    };

    Result<void> openJournal();
    Result<void> serve();
    Result<void> answer(int rank, int tag, const std::string &bytes);
    void handOut(int rank);
    Result<void> checkTimes() const;
    void tellProgress() const;
    Result<void> merge() const;
    std::string shardFile(std::size_t task) const;

    Call m_call;
    std::vector<Worker> m_workers; ///< by rank; the first one is nobody
    std::deque<std::size_t> m_open; ///< tasks that nobody has
    std::size_t m_done = 0;
    std::size_t m_stopped = 0; ///< workers
    std::size_t m_before = 0; ///< tasks that the journal had
    Clock::time_point m_start;
};

} // namespace halftone::mpi
