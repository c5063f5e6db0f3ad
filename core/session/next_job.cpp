#include "core/session/next_job.h"

#include <algorithm>
#include <array>

namespace halftone::session {
namespace {

/// Wanted, possible and not done.
bool isDue(Job job, const JobState &state)
{
    const bool comparesData = state.wantsErrors && state.hasData;
    const bool isCompared = state.compared == state.revision;
    switch (job) {
    case Job::Errors:
        return comparesData && !isCompared;
    case Job::Proposal: // judged against the present errors
        return comparesData && isCompared && state.hasProposal;
    case Job::Isolated:
        return comparesData && isCompared && state.isolated != state.revision;
    case Job::Ranges:
        return state.hasData && !state.isCalibrated;
    case Job::Latency:
        return state.wantsLatency && !state.isForAnalysis && state.measured != state.revision;
    case Job::None:
        break;
    }
    return false;
}

std::array<Job, 5> orderFor(const JobState &state)
{
    if (state.hasInt8 || state.inView == InView::Ranges)
        return {Job::Ranges, Job::Errors, Job::Proposal, Job::Isolated, Job::Latency};
    if (state.inView == InView::Latency)
        return {Job::Errors, Job::Proposal, Job::Latency, Job::Isolated, Job::Ranges};
    return {Job::Errors, Job::Proposal, Job::Isolated, Job::Ranges, Job::Latency};
}

} // namespace

Job nextJob(const JobState &state)
{
    if (!state.canCompute())
        return Job::None;
    const auto order = orderFor(state);
    const auto due = std::ranges::find_if(order, [&state](Job job) { return isDue(job, state); });
    return due == order.end() ? Job::None : *due;
}

bool givesWay(Job running, const JobState &state)
{
    const Job next = nextJob(state);
    return (running == Job::Isolated && next != Job::Isolated && next != Job::None)
        || (running == Job::Proposal && !state.hasProposal);
}

} // namespace halftone::session
