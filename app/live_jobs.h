#pragma once

#include "app/machine_turn.h"
#include "app/time_left.h"
#include "core/backends/backends.h"
#include "core/session/figures.h"
#include "core/session/live_comparison.h"
#include "core/session/next_job.h"
#include "core/walks/calibrate.h"
#include "core/walks/examples.h"
#include "widgets/common/document_controller.h"
#include "widgets/common/latest_job.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <memory>
#include <optional>

namespace halftone::app {

/// What the jobs compute with.
struct JobSettings
{
    std::string backend{backends::kDefaultBackend};
    unsigned threads = 0; ///< 0: as many as the machine has
    std::size_t memoryLimit = std::size_t{1} << 30; ///< bytes that a job may hold
    std::size_t repeats = 30; ///< of a latency measurement

    bool operator==(const JobSettings &) const = default;
};

using session::InView;

/// Keeps the figures beside the policy: after every edit the layers' errors, once per data the tensors' statistics, and, if
/// wanted, latency. One after the other (session::nextJob()), so that they don't disturb a measurement; the newest edit wins. Errors are shown over
/// the first examples, then over more, then layer by layer alone; what there is stays when a person stops it.
class LiveJobs : public QObject
{
    Q_OBJECT

public:
    explicit LiveJobs(widgets::DocumentController *controller, QObject *parent = nullptr);
    ~LiveJobs() override;

    /// Data for the open document; nothing takes them away. They are opened in the background: dataChanged(), or failed()
    /// where they cannot be read or contradict the model, and then all stays as it was.
    void setData(std::optional<walks::ExampleOptions> data);
    const std::optional<walks::ExampleOptions> &data() const { return m_data; }
    /// How many pictures lie in the folder of which data() takes the first; nothing where it takes all.
    std::optional<std::size_t> picturesThere() const { return m_picturesThere; }
    /// Shows what session::resultsText() wrote for the present policy. As long as data and settings are what it was computed from, it stands for
    /// a computation whenever the policy is that one; else it counts as stale once data or shapes come. fails: as session::readResults()
    Result<void> restore(const std::string &results);

    /// Of the present data, as a result's basis says it (session/result_basis.h).
    const std::string &basis() const { return m_basis; }
    /// Results that others computed stand for those of a job, until an edit or other data ask for new ones. Need: an open document
    void takeCalibration(walks::CalibrateOutcome outcome);
    void takeComparison(walks::CompareOutcome outcome, const std::string &basis, bool isolated);

    void setErrorsWanted(bool wanted);
    void setLatencyWanted(bool wanted);
    bool isLatencyWanted() const { return m_latencyWanted; }
    /// What is in view goes first; layers alone, which take the longest, give way to it.
    void setInView(InView view);
    /// An edit that may be made: once the present state has been compared, so is the one that it would lead to. Nothing: none.
    void setProposal(std::optional<policy::Edit> edit);
    void setSettings(const JobSettings &settings);
    const JobSettings &settings() const { return m_settings; }

    /// The model's file was written over while it was open: figures of it are withdrawn, and nothing more is computed from it until another
    /// document is there.
    void loseSource();

    void cancel(); ///< what runs; nothing starts again before the next edit
    void resume(); ///< what cancel() or a failure has put off
    void runAgain(); ///< all that is wanted, also what is up to date
    bool isBusy() const { return m_busy; }
    /// The errors of all layers are being computed, or the ranges that they need.
    bool isComparing() const
    {
        return m_busy
            && (m_running == session::Job::Errors
                || (m_running == session::Job::Ranges && m_state.wantsErrors));
    }
    /// That the jobs compute in.
    const std::shared_ptr<MachineTurn> &turn() const { return m_turn; }
    /// How the statistics of tensors are collected. Needs: data().
    walks::CalibrateOptions calibrateOptions() const;
    /// How the data are compared. Needs: data().
    walks::CompareOptions compareOptions() const { return compareOptions(*m_data); }
    session::LatencyOptions latencyOptions() const;

Q_SIGNALS:
    void busyChanged();
    /// share in [0, 1]; secondsLeft negative: nothing to tell it from yet.
    void progressed(double share, const QString &what, double secondsLeft);
    void dataChanged();
    void latencyWantedChanged(bool wanted);
    /// Why no latency is to be expected, a sentence; empty: it is on its way, or not wanted.
    void latencyDeferred(const QString &why);
    void failed(const QString &what);
    /// The memory that settings() allow does not do.
    void lacksMemory(const QString &what);
    void proposalCompared(const halftone::walks::CompareOutcome &outcome);
    void noted(const QString &what); ///< what could not be computed yet, as is usual for a new model

private:
    struct Shared; // what the working thread of one job tells
    struct Restored
    {
        std::string results;
        policy::Policy policy; ///< to which they belong
        std::uint64_t takenFor = 0; ///< revision
        bool awaitsConversion = false; ///< without which errors cannot be shown
    };

    struct OpenedData;

    void takeData(const walks::ExampleOptions &data, const OpenedData &opened);
    void forgetComputed();
    void restart();
    session::JobState state() const;
    void next();
    std::shared_ptr<Shared> begin(const char *what);
    void setBusy(bool busy);
    void poll();
    void takeInterim();
    void show(walks::CompareOutcome outcome, const std::string &basis, std::uint64_t revision, bool isolated);
    walks::CompareOptions compareOptions(const walks::ExampleOptions &examples) const;
    Result<void> showRestored();
    void showAwaited();
    void takeRestored();
    void compare(bool isolated);
    void compareProposal();
    void calibrate();
    void measure();
    template <class Work, class Deliver>
    void startInTurn(Work work, Deliver deliver);
    void fail(const Error &error);
    void deferLatency(const QString &why);
    QString whyNoLatency() const; ///< whatever is computed; empty: there may be some

    widgets::DocumentController *m_controller;
    std::optional<walks::ExampleOptions> m_data;
    std::optional<std::size_t> m_picturesThere;
    std::string m_basis; ///< of a comparison over m_data, as it was when these were opened
    std::optional<Restored> m_restored;
    JobSettings m_settings;
    session::JobState m_state; ///< but for what state() fills in
    bool m_latencyWanted = false;
    std::optional<policy::Edit> m_proposal; ///< that is yet to be compared
    bool m_busy = false;
    session::Job m_running = session::Job::None;
    bool m_sourceLost = false;
    QString m_whyNoLatency;

    std::shared_ptr<MachineTurn> m_turn = std::make_shared<MachineTurn>();
    std::shared_ptr<Shared> m_shared;
    std::shared_ptr<session::LiveComparison> m_comparison;
    std::shared_ptr<session::LatencyMeter> m_meter;
    QTimer m_poll;
    QElapsedTimer m_clock;
    TimeLeft m_timeLeft;
    widgets::LatestJob m_opening;
    widgets::LatestJob m_job;
    QTimer m_returnSoon; ///< once the values of the last jobs, and of the document before, are gone
    widgets::LatestJob m_returning; ///< memory to the system
};

} // namespace halftone::app
