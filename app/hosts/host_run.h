#pragma once

#include "app/hosts/host_list.h"
#include "core/session/snapshot.h"
#include "core/tune/search.h"
#include "core/walks/calibrate.h"
#include "core/walks/compare.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::app {

/// What halftone-mpi computes.
enum class HostTask : std::uint8_t
{
    Calibrate,
    Compare,
    Tune,
};

/// All that a run on hosts depends on, copied: the document may go on.
struct HostRequest
{
    HostTask task = HostTask::Compare;
    std::shared_ptr<const session::Snapshot> snapshot;
    std::shared_ptr<const policy::Policy> base; ///< of a search: without what an earlier one decided
    std::unordered_map<std::string, tensor::Shape> shapes; ///< of the inputs
    walks::CalibrateOptions calibrate;
    walks::CompareOptions compare; ///< also of a search
    std::string dataBasis; ///< session::comparisonBasis() of the data
    bool isolated = false; ///< each layer alone, too
    bool hasInt8 = false; ///< of a search
    std::optional<tune::Limit> limit; ///< of a search

    /// The policy that the result is of; a calibration is of the model, whatever the lists say.
    const policy::Policy &policy() const { return base ? *base : *snapshot->policy; }
};

/// How and where.
struct HostPlace
{
    std::vector<Host> hosts;
    std::string program; ///< halftone-mpi, as the hosts find it
    std::string mpirun;
    std::string folder; ///< of all runs
    double timeLimit = 600; ///< seconds a shard
    bool isRoot = false; ///< mpirun wants to be told
};

/// A run in a folder of its own, named by all that has a say in its result: the same request finds what was done before.
class HostRun
{
public:
    enum class State : std::uint8_t
    {
        New,
        Interrupted,
        Finished,
    };

    HostRun(HostRequest request, const std::string &folder);

    const HostRequest &request() const { return m_request; }
    const std::string &folder() const { return m_folder; }
    std::string journal() const { return inFolder("result.json.journal"); }
    std::string statistics() const { return inFolder("statistics"); } ///< of a search its state
    State state() const;
    std::size_t shardsDone() const; ///< in the journal
    std::size_t shards() const; ///< of the journal; 0: none is there

    /// Writes what mpirun reads, and gives its words. fails: BadInput for a disk that is full or a folder that cannot be written
    Result<std::vector<std::string>> prepare(const HostPlace &place) const;
    void forget() const; ///< the next run begins anew

private:
    std::string inFolder(const std::string &name) const { return m_folder + '/' + name; }
    std::vector<std::string> command() const;
    std::vector<std::string> dataWords(const walks::ExampleOptions &data) const;
    Result<void> writeTable() const;
    bool needsTable() const;

    HostRequest m_request;
    std::string m_policy; ///< the file's text
    std::string m_folder;
};

/// Of one rank, or of all on a host.
struct HostProgress
{
    std::string host;
    std::size_t ranks = 0;
    std::size_t done = 0; ///< shards
    std::vector<std::size_t> shards; ///< that are being computed, from 1
};

/// What halftone-mpi says of itself in its journal.
struct RunProgress
{
    std::string phase;
    std::size_t shards = 0;
    std::size_t done = 0;
    std::size_t before = 0; ///< of them in earlier runs
    double seconds = 0;
    std::vector<HostProgress> hosts;

    /// Nothing to tell it from yet: nothing.
    std::optional<double> secondsLeft() const;
};

/// Nothing where `text` is no progress.json.
std::optional<RunProgress> readProgress(std::string_view text);

/// Of what mpirun and the ranks wrote: why it ended, in a line. Empty where nothing says so.
std::string reasonIn(std::string_view output);

} // namespace halftone::app
