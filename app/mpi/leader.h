#pragma once

#include "app/mpi/call.h"
#include "app/mpi/child.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace halftone::mpi {

/// Rank 0: hands out the shards that the journal lacks, merges all of them as they come, and, of a search, goes on from there.
class Leader
{
public:
    Leader(const Call &call, int ranks);

    /// fails: BadInput for a journal of another call, a shard that failed or took too long, a disk that is full
    Result<void> run();

private:
    using Clock = std::chrono::steady_clock;
    struct Worker
    {
        std::string host; ///< empty: it has not asked yet
        std::optional<std::size_t> shard;
        Clock::time_point since;
        std::size_t done = 0;
    };

    Result<void> openJournal();
    Result<void> countShards();
    Result<void> readFiles();
    Result<void> timeGroups();
    Result<void> startMerge();
    Result<void> serve();
    Result<void> take(int rank, int tag, const std::string &bytes);
    Result<void> handOut(int rank);
    Result<void> checkTimes() const;
    Result<void> tellProgress(const std::string &phase) const;
    Result<void> finish();
    void stopWorkers();
    void dropJournal() const;
    std::string nameOf(std::size_t rank) const;
    std::string shardFile(std::size_t shard) const;
    std::string inJournal(const std::string &name) const { return m_call.journal + '/' + name; }
    std::vector<std::string> commandWith(const std::vector<std::string> &more) const;

    Call m_call;
    std::vector<Worker> m_workers; ///< by rank; the first one is nobody
    std::deque<std::size_t> m_open; ///< shards that nobody has
    std::vector<std::string> m_files; ///< content of Call::sentFiles()
    std::string m_groups; ///< of a search: what its shards have in common
    Child m_merge; ///< is told the shards' files
    std::size_t m_done = 0;
    std::size_t m_before = 0; ///< shards that the journal had
    Clock::time_point m_start;
};

} // namespace halftone::mpi
