#include "app/document_files.h"
#include "app/export_dialog.h"
#include "app/main_window.h"
#include "app/notice_bar.h"
#include "core/session/correct_conversion.h"
#include "core/session/export.h"
#include "core/session/graph_picture.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/graph_view.h"

#include <QApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QProgressDialog>
#include <QStatusBar>
#include <QTimer>

#include <atomic>

/// What the window writes beside sessions.
namespace halftone::app {
namespace {

using widgets::plain;

constexpr int kPollMs = 50;

QString whyNotCorrected(const session::Snapshot &snapshot, const LiveJobs &jobs)
{
    if (!jobs.data())
        return QObject::tr("Attach data to measure the errors on (Ctrl+D).");
    if (!snapshot.calibration || !snapshot.ranges)
        return QObject::tr("The ranges of the data are not collected yet.");
    return {};
}

} // namespace

void MainWindow::exportAll()
{
    const std::shared_ptr<const session::Snapshot> snapshot = m_controller.snapshot();
    const QFileInfo source(plain(snapshot->source->symbolPath));
    QString name = source.fileName();
    name = name.endsWith(u"-symbol.json") ? name.chopped(12) : source.completeBaseName();
    const QString type = QString::fromUtf8(tensor::nameOf(snapshot->policy->target).data());
    ExportDialog dialog(source.absolutePath() + '/' + name + '-' + type,
                        {snapshot->source->symbolPath, snapshot->source->paramsPath},
                        snapshot->source->model.hasParameters, this);
    if (snapshot->converted && !snapshot->converted->conversion.int8Group.empty())
        dialog.offerCorrection(whyNotCorrected(*snapshot, *m_jobs));
    if (dialog.exec() != QDialog::Accepted)
        return;
    if (dialog.correctsBiases())
        correctAndWrite(snapshot, dialog.options());
    else
        write(*snapshot, dialog.options());
}

/// The means are measured in the background, and can be given up; what is written is the snapshot that was there when it was
/// asked for.
void MainWindow::correctAndWrite(const std::shared_ptr<const session::Snapshot> &snapshot,
                                 const session::ExportOptions &options)
{
    auto *const progress = new QProgressDialog(tr("Measuring the mean errors of int8 layers \u2026"),
                                               tr("Cancel"), 0, 100, this);
    progress->setObjectName(QStringLiteral("correcting"));
    progress->setWindowModality(Qt::WindowModal);
    progress->setAutoReset(false);
    progress->setMinimumDuration(0);
    const auto share = std::make_shared<std::atomic<double>>(0);
    auto *const poll = new QTimer(progress);
    connect(poll, &QTimer::timeout, progress,
            [progress, share] { progress->setValue(static_cast<int>(*share * 100)); });
    poll->start(kPollMs);
    connect(progress, &QProgressDialog::canceled, this, [this, progress] {
        m_exporting.cancel();
        progress->deleteLater();
        statusBar()->showMessage(tr("Not exported: stopped."), kMessageMs);
    });
    m_exporting.start(
        [snapshot, share, data = m_jobs->calibrateOptions()](std::stop_token stop) {
            return session::correctConversion(
                *snapshot, data,
                {std::move(stop), [share](double done, std::string_view) { *share = done; }});
        },
        [this, snapshot, options, progress](Result<session::CorrectedConversion> corrected) {
            progress->disconnect(this); // to close it is not to cancel
            progress->close();
            progress->deleteLater();
            if (!corrected.ok()) {
                m_noticeBar->showNotice(tr("Not exported: %1").arg(plain(corrected.error().message())));
                return;
            }
            for (const std::string &note : corrected.value().notes)
                log(plain(note));
            log(tr("biases of %1 int8 layers corrected").arg(corrected.value().corrected));
            session::ExportOptions all = options;
            all.corrected = corrected.value().converted;
            write(*snapshot, all);
        });
}

void MainWindow::write(const session::Snapshot &snapshot, const session::ExportOptions &options)
{
    QApplication::setOverrideCursor(Qt::WaitCursor);
    const auto picture = session::graphPicture(snapshot);
    const auto written = session::exportAll(snapshot, m_controller.figures(), options,
                                            picture.ok() ? picture.value() : std::string());
    QApplication::restoreOverrideCursor();
    if (!written.ok()) {
        m_noticeBar->showNotice(tr("Not exported: %1").arg(plain(written.error().message())));
        return;
    }
    QStringList names;
    for (const std::string &path : written.value()) {
        names << QFileInfo(plain(path)).fileName();
        log(tr("wrote %1").arg(plain(path)));
    }
    statusBar()->showMessage(tr("Wrote %1").arg(names.join(QStringLiteral(", "))), kMessageMs);
}

void MainWindow::exportPicture()
{
    const QString path
        = QFileDialog::getSaveFileName(this, tr("Export Picture"), QStringLiteral("graph.svg"),
                                       QStringLiteral("SVG (*.svg);;PNG (*.png);;PDF (*.pdf)"));
    if (path.isEmpty())
        return;
    const auto written = m_graph->exportTo(path);
    if (!written.ok()) {
        m_noticeBar->showNotice(tr("Not exported: %1").arg(plain(written.error().message())));
        return;
    }
    statusBar()->showMessage(tr("Wrote %1").arg(path), kMessageMs);
    log(tr("wrote %1").arg(path));
}

} // namespace halftone::app
