#pragma once

#include "app/live_jobs.h"

#include <QObject>

#include <string>
#include <vector>

namespace halftone::app {

/// The open model as it is, over the attached data, on two backends: that of the jobs and another one. The result stands beside the
/// figures of the conversion, in columns of its own, until the data change. One at a time.
class BackendComparison : public QObject
{
    Q_OBJECT

public:
    BackendComparison(widgets::DocumentController *controller, LiveJobs *jobs, QObject *parent);

    /// Why nothing can be compared now; empty: it can.
    QString whyNot() const;
    /// Those that this build and machine have beside that of the jobs.
    std::vector<backends::BackendInfo> others() const;
    /// Needs: whyNot() is empty; `other` is a name of others()
    void start(const std::string &other);
    void stop();
    bool isRunning() const { return m_job.isRunning(); }

Q_SIGNALS:
    void runningChanged();
    void finished(const QString &what);
    void failed(const QString &why);

private:
    void take(const std::string &other, Result<walks::CompareOutcome> outcome);
    void forget();

    widgets::DocumentController *m_controller;
    LiveJobs *m_jobs;
    std::string m_backend; ///< of the jobs, when it began
    widgets::LatestJob m_job;
};

} // namespace halftone::app
