#pragma once

#include <cstdint>

namespace halftone::session {

/// What is computed beside an open document, one after the other.
enum class Job
{
    None,
    Errors, ///< of all layers, after every edit
    Proposal, ///< the errors that a suggested edit would leave
    Isolated, ///< errors of each layer alone, which take the longest
    Ranges, ///< statistics of tensors, once per data
    Latency
};

/// What a person looks at, whose figures come first.
enum class InView
{
    Errors,
    Ranges,
    Latency
};

/// All that decides which job is next. Revisions are Snapshot::revision.
struct JobState
{
    // What there is to compute with.
    std::uint64_t revision = 0; ///< of the conversion; 0: there is none, or its source is lost
    bool hasData = false;
    bool hasInt8
        = false; ///< the conversion takes ranges from the statistics, and is computed again when these come
    bool isForAnalysis = false; ///< the target is a format in which nothing computes
    // What is wanted.
    bool isStopped = false; ///< by a person or a failure: nothing, until the next edit
    bool wantsErrors = true;
    bool wantsLatency = false;
    bool hasProposal = false; ///< that was not computed yet
    InView inView = InView::Errors;
    // What was computed: of which revision. 0: of none.
    std::uint64_t compared = 0;
    std::uint64_t isolated = 0;
    std::uint64_t measured = 0;
    bool isCalibrated = false;

    bool canCompute() const { return revision != 0 && !isStopped; }
};

/// The job to be started: the first that is wanted and not done. Errors answer an edit and go first; latency, whose measurement suffers
/// from whatever runs beside it, goes last unless it is in view.
Job nextJob(const JobState &state);

/// Whether a job that runs is to be stopped for nextJob(): isolated errors give way to whatever comes before them, and keep what they have;
/// a proposal is given up once it is withdrawn. Other jobs end first.
bool givesWay(Job running, const JobState &state);

} // namespace halftone::session
