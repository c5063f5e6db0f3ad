#include "core/session/next_job.h"

#include <QTest>

#include <vector>

using namespace halftone;
using session::InView;
using session::Job;
using session::JobState;

namespace {

/// Data are attached, everything is wanted, nothing was computed.
JobState fresh()
{
    JobState state;
    state.revision = 7;
    state.hasData = true;
    state.wantsLatency = true;
    return state;
}

/// All was computed for revision 7.
JobState complete()
{
    JobState state = fresh();
    state.compared = state.isolated = state.measured = 7;
    state.isCalibrated = true;
    return state;
}

template <class Change>
JobState changed(JobState state, const Change &change)
{
    change(state);
    return state;
}

/// As LiveJobs notes it when a job has ended.
void markDone(Job job, JobState &state)
{
    switch (job) {
    case Job::Errors:
        state.compared = state.revision;
        break;
    case Job::Isolated:
        state.isolated = state.revision;
        break;
    case Job::Proposal:
        state.hasProposal = false;
        break;
    case Job::Ranges:
        state.isCalibrated = true;
        break;
    case Job::Latency:
        state.measured = state.revision;
        break;
    case Job::None:
        break;
    }
}

} // namespace

class TestNextJob : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aStateHasOneNextJob_data()
    {
        QTest::addColumn<JobState>("state");
        QTest::addColumn<Job>("expected");
        const auto row = [](const char *name, const JobState &from, Job expected, const auto &change) {
            QTest::newRow(name) << changed(from, change) << expected;
        };
        row("nothing was computed", fresh(), Job::Errors, [](JobState &) {});
        row("all was computed", complete(), Job::None, [](JobState &) {});
        row("after an edit", complete(), Job::Errors, [](JobState &s) { s.revision = 8; });
        row("the edit was compared", complete(), Job::Isolated,
            [](JobState &s) { s.revision = s.compared = 8; });
        row("each layer alone, too: ranges hold for every edit", complete(), Job::Latency,
            [](JobState &s) { s.revision = s.compared = s.isolated = 8; });
        row("errors are not wanted", fresh(), Job::Ranges, [](JobState &s) { s.wantsErrors = false; });
        row("errors and latency are not wanted", complete(), Job::None, [](JobState &s) {
            s.revision = 8;
            s.wantsErrors = s.wantsLatency = false;
        });
        row("a proposal waits for the errors", fresh(), Job::Errors,
            [](JobState &s) { s.hasProposal = true; });
        row("a proposal goes before layers alone", complete(), Job::Proposal, [](JobState &s) {
            s.isolated = 0;
            s.hasProposal = true;
        });
        row("a proposal without errors to judge it by", complete(), Job::None, [](JobState &s) {
            s.wantsErrors = false;
            s.hasProposal = true;
        });
        row("no data: only latency", fresh(), Job::Latency, [](JobState &s) { s.hasData = false; });
        row("no data, latency not wanted", fresh(), Job::None,
            [](JobState &s) { s.hasData = s.wantsLatency = false; });
        row("int8 operators need ranges", fresh(), Job::Ranges, [](JobState &s) { s.hasInt8 = true; });
        row("int8 operators have ranges", fresh(), Job::Errors,
            [](JobState &s) { s.hasInt8 = s.isCalibrated = true; });
        row("ranges in view", fresh(), Job::Ranges, [](JobState &s) { s.inView = InView::Ranges; });
        row("latency in view: errors answer an edit", fresh(), Job::Errors,
            [](JobState &s) { s.inView = InView::Latency; });
        row("latency in view: before layers alone", fresh(), Job::Latency, [](JobState &s) {
            s.inView = InView::Latency;
            s.compared = 7;
        });
        row("nothing computes in a format for analysis", complete(), Job::None, [](JobState &s) {
            s.measured = 0;
            s.isForAnalysis = true;
        });
        row("stopped", fresh(), Job::None, [](JobState &s) { s.isStopped = true; });
        row("no conversion", fresh(), Job::None, [](JobState &s) { s.revision = 0; });
    }
    void aStateHasOneNextJob()
    {
        QFETCH(const JobState, state);
        QFETCH(const Job, expected);
        QCOMPARE(session::nextJob(state), expected);
    }

    void allJobsAreDoneInTheOrderOfTheView_data()
    {
        QTest::addColumn<InView>("view");
        QTest::addColumn<std::vector<Job>>("order");
        QTest::newRow("errors") << InView::Errors
                                << std::vector{Job::Errors, Job::Proposal, Job::Isolated, Job::Ranges,
                                               Job::Latency};
        QTest::newRow("ranges") << InView::Ranges
                                << std::vector{Job::Ranges, Job::Errors, Job::Proposal, Job::Isolated,
                                               Job::Latency};
        QTest::newRow("latency") << InView::Latency
                                 << std::vector{Job::Errors, Job::Proposal, Job::Latency, Job::Isolated,
                                                Job::Ranges};
    }
    void allJobsAreDoneInTheOrderOfTheView()
    {
        QFETCH(const InView, view);
        QFETCH(const std::vector<Job>, order);
        JobState state = fresh();
        state.hasProposal = true;
        state.inView = view;
        for (const Job expected : order) {
            QCOMPARE(session::nextJob(state), expected);
            markDone(expected, state);
        }
        QCOMPARE(session::nextJob(state), Job::None);
    }

    void onlySomeJobsGiveWay_data()
    {
        QTest::addColumn<Job>("running");
        QTest::addColumn<JobState>("state");
        QTest::addColumn<bool>("expected");
        const auto row = [](const char *name, Job running, bool expected, const auto &change) {
            QTest::newRow(name) << running << changed(fresh(), change) << expected;
        };
        const auto isolating = [](JobState &s) { s.compared = 7; };
        row("layers alone, which are next", Job::Isolated, false, isolating);
        row("layers alone, ranges come into view", Job::Isolated, true, [&](JobState &s) {
            isolating(s);
            s.inView = InView::Ranges;
        });
        row("layers alone, latency comes into view", Job::Isolated, true, [&](JobState &s) {
            isolating(s);
            s.inView = InView::Latency;
        });
        row("layers alone, an edit is proposed", Job::Isolated, true, [&](JobState &s) {
            isolating(s);
            s.hasProposal = true;
        });
        row("layers alone, nothing is wanted before them", Job::Isolated, false, [&](JobState &s) {
            isolating(s);
            s.inView = InView::Ranges;
            s.isCalibrated = true;
        });
        row("errors, ranges come into view", Job::Errors, false,
            [](JobState &s) { s.inView = InView::Ranges; });
        row("a proposal", Job::Proposal, false, [&](JobState &s) {
            isolating(s);
            s.hasProposal = true;
        });
        row("a proposal that was withdrawn", Job::Proposal, true, isolating);
        row("latency, an edit is proposed", Job::Latency, false, [&](JobState &s) {
            isolating(s);
            s.hasProposal = true;
        });
        row("nothing runs, as it was stopped", Job::None, false, [](JobState &s) { s.isStopped = true; });
    }
    void onlySomeJobsGiveWay()
    {
        QFETCH(const Job, running);
        QFETCH(const JobState, state);
        QFETCH(const bool, expected);
        QCOMPARE(session::givesWay(running, state), expected);
    }
};

QTEST_APPLESS_MAIN(TestNextJob)
#include "tst_next_job.moc"
