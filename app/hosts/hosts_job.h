#pragma once

#include "app/hosts/host_run.h"

#include <QObject>
#include <QProcess>
#include <QTimer>

#include <memory>
#include <optional>

namespace halftone::app {

/// Why there can be no run on hosts; empty where there can. isBuilt  was halftone-mpi built?
QString whyNoHosts(bool isBuilt = HALFTONE_HAS_MPI != 0);

/// mpirun with halftone-mpi, as a child that ends with this program. What it has done is in its journal; this reads how far it is.
class HostsJob : public QObject
{
    Q_OBJECT

public:
    explicit HostsJob(QObject *parent = nullptr);
    ~HostsJob() override; ///< ends what runs; its journal stays

    /// Needs: nothing runs. fails: as HostRun::prepare(); BadInput for a program that is not there
    Result<void> start(const HostRun &run, HostPlace place);
    void stop();
    bool isRunning() const { return m_process.state() != QProcess::NotRunning; }

    const std::optional<HostRun> &run() const { return m_run; } ///< that runs, or ran last
    const std::optional<RunProgress> &progress() const { return m_progress; }
    const QString &output() const { return m_output; } ///< the last of what mpirun and the ranks said

Q_SIGNALS:
    void progressed();
    void finished(); ///< run()->statistics() is there
    void stopped(); ///< by stop()
    void failed(const QString &why);

private:
    void poll();
    void readOutput();
    void ended(int code);
    QString whyEnded(int code) const;

    QProcess m_process;
    QTimer m_poll;
    QTimer m_kill; ///< for what does not end when it is told to
    std::optional<HostRun> m_run;
    std::optional<RunProgress> m_progress;
    QString m_output;
    QString m_program;
    bool m_isStopped = false;
    bool m_hasSpoken = false; ///< as halftone-mpi does
};

} // namespace halftone::app
