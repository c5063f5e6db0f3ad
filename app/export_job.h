#pragma once

#include "core/session/derive.h"
#include "widgets/common/latest_job.h"

#include <QObject>
#include <QStringList>

#include <atomic>
#include <memory>

class QProgressDialog;
class QWidget;

namespace halftone::session {
struct ExportOptions;
struct Snapshot;
} // namespace halftone::session

namespace halftone::widgets {
class DocumentController;
class TuneState;
} // namespace halftone::widgets

namespace halftone::app {

class LiveJobs;

/// Folder and beginning of the names: after the model and what it becomes, "net-int8" where operators are int8.
QString proposedPrefix(const session::Snapshot &snapshot);

/// How large the parameters of the written file are in which type: "Stored parameters: 90 KiB as int8 codes, 4 KiB in float32."; "" where
/// there are none.
QString whatIsStored(const session::Snapshot &snapshot);

/// Why a converted model's parameters are as wide as before; "" where they are not, or there are none.
QString whyParametersStay(const session::Snapshot &snapshot);

/// Writes model, policy and report beside each other, after biases were corrected where that is asked for.
class ExportJob : public QObject
{
    Q_OBJECT

public:
    /// tune  whose front goes into reports
    ExportJob(widgets::DocumentController *controller, LiveJobs *jobs, const widgets::TuneState *tune,
              QWidget *window);

    void askAndExport();

Q_SIGNALS:
    void noted(const QString &text);
    void stopped();
    void failed(const QString &why);
    void wrote(const QStringList &paths);

private:
    using SnapshotPtr = std::shared_ptr<const session::Snapshot>;

    /// A conversion with corrected biases.
    struct Corrected
    {
        session::Derived derived;
        std::shared_ptr<const walks::CompareOutcome> comparison; ///< null: no report is written
    };

    bool awaitsComparison(const session::Snapshot &snapshot) const;
    void writeOnceCompared(const SnapshotPtr &snapshot, const session::ExportOptions &options);
    void correctAndWrite(const SnapshotPtr &snapshot, const session::ExportOptions &options);
    QProgressDialog *showProgress(const std::shared_ptr<std::atomic<double>> &share);
    void takeCorrected(const session::Snapshot &snapshot, session::ExportOptions options,
                       const Result<Corrected> &corrected);
    void write(const session::Snapshot &snapshot, const session::ExportOptions &options);

    widgets::DocumentController *m_controller;
    LiveJobs *m_jobs;
    const widgets::TuneState *m_tune;
    QWidget *m_window;
    widgets::LatestJob m_correcting;
};

} // namespace halftone::app
