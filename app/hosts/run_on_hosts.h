#pragma once

#include "app/hosts/hosts_job.h"
#include "app/tune_job.h"

namespace halftone::app {

/// Calibrations, comparisons and searches of the open document on many machines: asks for them, and takes what comes into the
/// document. One at a time; it goes on while the document is edited.
class RunOnHosts : public QObject
{
    Q_OBJECT

public:
    RunOnHosts(widgets::DocumentController *controller, LiveJobs *jobs, widgets::TuneState *tune,
               TuneJob *tuning, QObject *parent);

    /// Why nothing can be asked for now; empty: it can.
    QString whyNot() const;
    /// The model's files hold something else than what was read: hosts would compute with that.
    void setSourceDiffers(bool differs) { m_sourceDiffers = differs; }
    /// examples  pictures; 0: all. isolated  each layer alone, too; of a comparison. Needs: whyNot() is empty
    HostRun runFor(HostTask task, std::size_t examples, bool isolated) const;
    HostsJob &job() { return m_job; }
    /// A result that is there, into the document: taken() or failed(). What does not belong to it any more is refused.
    void take(const HostRun &run);
    bool isTaking() const { return m_taking.isRunning(); }

    static QString usualFolder(); ///< of all runs
    static QString usualProgram(); ///< halftone-mpi beside this program

Q_SIGNALS:
    void taken(const QString &what);
    void failed(const QString &why);

private:
    bool isOf(const HostRun &run) const; ///< the document as it is now
    void takeCalibration(const HostRun &run);
    void takeComparison(const HostRun &run);
    void takeSearch(const HostRun &run);
    template <class Read, class Take>
    void readThen(Read read, Take take);

    widgets::DocumentController *m_controller;
    LiveJobs *m_jobs;
    widgets::TuneState *m_tune;
    TuneJob *m_tuning;
    HostsJob m_job;
    bool m_sourceDiffers = false;
    widgets::LatestJob m_taking;
};

} // namespace halftone::app
