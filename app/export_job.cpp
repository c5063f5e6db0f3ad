#include "app/export_job.h"

#include "app/dialogs/export_dialog.h"
#include "app/live_jobs.h"
#include "app/settings.h"
#include "core/api/halftone/version.h"
#include "core/session/derive.h"
#include "core/session/export.h"
#include "core/session/graph_picture.h"
#include "core/session/live_comparison.h"
#include "core/tune/front_json.h"
#include "widgets/common/constant_nodes.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"
#include "widgets/models/tune_state.h"

#include <QApplication>
#include <QProgressDialog>
#include <QTimer>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace halftone::app {
namespace {

using widgets::plain;

constexpr int kExportPollMs = 50;

QString whyNotCorrected(const session::Snapshot &snapshot, const LiveJobs &jobs)
{
    if (!jobs.data())
        return QObject::tr("Attach data (Ctrl+D) to measure the errors.");
    if (!snapshot.calibration || !snapshot.ranges)
        return QObject::tr("The ranges of the data are still being collected.");
    return {};
}

/// Why there is no conversion to export yet; empty: there is one, or an error that exporting reports.
QString whyNotConverted(const session::Snapshot &snapshot)
{
    if (snapshot.isAwaited())
        return QObject::tr("the model is still being converted");
    if (snapshot.error && snapshot.error->code == Errc::Cancelled)
        return QObject::tr(
            "the conversion was stopped; Run \u203a Compute Again (Shift+F5) converts the model");
    return {};
}

bool hasInt8(const session::Snapshot &snapshot)
{
    return snapshot.converted && !snapshot.converted->conversion.int8Group.empty();
}

/// Bytes of a model's parameters by their type.
std::map<tensor::DType, std::size_t> bytesByType(const graph::Model &model)
{
    std::map<tensor::DType, std::size_t> bytes;
    for (const tensor::Array &array : model.parameters)
        bytes[array.values.dtype()] += array.values.storedBytes();
    return bytes;
}

/// Weights became codes in the file or most were before; otherwise the graph makes them of the real ones.
bool storesCodes(const session::Snapshot &snapshot)
{
    auto before = bytesByType(snapshot.source->model);
    auto after = bytesByType(snapshot.converted->model);
    std::size_t all = 0;
    for (const auto &[type, bytes] : after)
        all += bytes;
    return after[tensor::DType::I8] > before[tensor::DType::I8]
        || after[tensor::DType::U8] > before[tensor::DType::U8]
        || 2 * (after[tensor::DType::I8] + after[tensor::DType::U8]) > all;
}

bool computesInTarget(const session::Snapshot &snapshot)
{
    return std::ranges::any_of(widgets::computingNodes(snapshot.graph()), [&snapshot](graph::NodeId id) {
        return snapshot.precisionOf(id) == snapshot.target();
    });
}

/// As the command line would have written it for a report.
std::shared_ptr<const report::FrontFigures> frontOf(const widgets::TuneState &tune)
{
    const tune::Front *const front = tune.front();
    if (front == nullptr || front->evaluations == 0)
        return nullptr;
    const std::vector<std::string> noFiles(front->points.size());
    auto read = report::readFront(
        jsonText(tune::frontJson(*front, noFiles, tune.limit(), tensor::nameOf(tune.base()->target))));
    return read.ok() ? std::make_shared<const report::FrontFigures>(std::move(read).value()) : nullptr;
}

} // namespace

QString proposedPrefix(const session::Snapshot &snapshot)
{
    const tensor::DType type = hasInt8(snapshot) ? tensor::DType::I8 : snapshot.target();
    const QString model = widgets::pathText(snapshot.source->modelPath);
    return folderFor(model) + '/' + nameOfModel(model) + '-' + QString::fromUtf8(tensor::nameOf(type).data());
}

QString whatIsStored(const session::Snapshot &snapshot)
{
    constexpr qsizetype kMostTypes = 4;
    if (!snapshot.converted || !snapshot.converted->model.hasParameters)
        return {};
    std::vector<std::pair<std::size_t, tensor::DType>> types;
    for (const auto &[type, bytes] : bytesByType(snapshot.converted->model))
        if (bytes > 0)
            types.emplace_back(bytes, type);
    std::ranges::sort(types, std::greater<>());
    QStringList parts;
    for (const auto &[bytes, type] : types) {
        if (parts.size() == kMostTypes)
            break;
        const bool isCode = (type == tensor::DType::I8 || type == tensor::DType::U8) && storesCodes(snapshot);
        parts << (isCode ? ExportJob::tr("%1 as %2 codes") : ExportJob::tr("%1 in %2"))
                     .arg(widgets::bytesText(bytes), plain(std::string(tensor::nameOf(type))));
    }
    return parts.isEmpty() ? QString()
                           : ExportJob::tr("Stored parameters: %1.").arg(parts.join(QStringLiteral(", ")));
}

QString whyParametersStay(const session::Snapshot &snapshot)
{
    if (!snapshot.converted || !snapshot.source->model.hasParameters
        || !snapshot.converted->conversion.parameters.empty())
        return {};
    QStringList lines;
    if (hasInt8(snapshot) && !storesCodes(snapshot))
        lines << ExportJob::tr("Parameters are written unchanged: the graph quantizes the weights of int8 "
                               "operators when it runs.");
    if (computesInTarget(snapshot))
        lines << ExportJob::tr("To halve the size of parameters that are only used in %1, turn on "
                               "Model \u203a Store Parameters in the Target Type.")
                     .arg(QString::fromUtf8(tensor::nameOf(snapshot.policy->target).data()));
    return lines.join(QLatin1Char(' '));
}

ExportJob::ExportJob(widgets::DocumentController *controller, LiveJobs *jobs, const widgets::TuneState *tune,
                     QWidget *window)
    : QObject(window)
    , m_controller(controller)
    , m_jobs(jobs)
    , m_tune(tune)
    , m_window(window)
{
}

void ExportJob::askAndExport()
{
    const SnapshotPtr snapshot = m_controller->snapshot();
    if (const QString why = whyNotConverted(*snapshot); !why.isEmpty()) {
        Q_EMIT failed(why);
        return;
    }
    ExportDialog dialog(proposedPrefix(*snapshot), snapshot->source, m_window);
    QStringList notes{whatIsStored(*snapshot), whyParametersStay(*snapshot)};
    notes.removeAll(QString());
    dialog.setNote(notes.join(QLatin1Char(' ')));
    if (hasInt8(*snapshot))
        dialog.offerCorrection(whyNotCorrected(*snapshot, *m_jobs));
    if (dialog.exec() != QDialog::Accepted)
        return;
    session::ExportOptions options = dialog.options();
    options.front = frontOf(*m_tune);
    options.made = session::madeLine(HALFTONE_VERSION);
    if (dialog.correctsBiases())
        correctAndWrite(snapshot, options);
    else if (options.report && awaitsComparison(*snapshot))
        writeOnceCompared(snapshot, options);
    else
        write(*snapshot, options);
}

/// The first figures of these lists are on their way.
bool ExportJob::awaitsComparison(const session::Snapshot &snapshot) const
{
    return m_jobs->isComparing() && m_controller->figures().comparisonRevision != snapshot.revision;
}

/// Waits for the first figures: with those over some examples the report says so.
void ExportJob::writeOnceCompared(const SnapshotPtr &snapshot, const session::ExportOptions &options)
{
    auto *const progress = new QProgressDialog(tr("Waiting for the layer errors of the report\u2026"),
                                               tr("Export Without Errors"), 0, 0, m_window);
    progress->setObjectName(QStringLiteral("comparing"));
    progress->setWindowModality(Qt::WindowModal);
    progress->setMinimumDuration(0);
    const auto finish = [this, progress, snapshot, options] {
        progress->disconnect(this);
        disconnect(m_controller, nullptr, progress, nullptr);
        disconnect(m_jobs, nullptr, progress, nullptr);
        progress->close();
        progress->deleteLater();
        write(*snapshot, options);
    };
    const auto look = [this, finish, snapshot] {
        if (!awaitsComparison(*snapshot))
            finish();
    };
    connect(m_controller, &widgets::DocumentController::figuresChanged, progress, look);
    connect(m_jobs, &LiveJobs::busyChanged, progress, look);
    connect(progress, &QProgressDialog::canceled, this, finish);
    progress->show();
}

QProgressDialog *ExportJob::showProgress(const std::shared_ptr<std::atomic<double>> &share)
{
    auto *const progress = new QProgressDialog(tr("Correcting the biases of int8 layers\u2026"), tr("Cancel"),
                                               0, 100, m_window);
    progress->setObjectName(QStringLiteral("correcting"));
    progress->setWindowModality(Qt::WindowModal);
    progress->setAutoReset(false);
    progress->setMinimumDuration(0);
    auto *const poll = new QTimer(progress);
    connect(poll, &QTimer::timeout, progress,
            [progress, share] { progress->setValue(static_cast<int>(*share * 100)); });
    poll->start(kExportPollMs);
    connect(progress, &QProgressDialog::canceled, this, [this, progress] {
        m_correcting.cancel();
        progress->deleteLater();
        Q_EMIT stopped();
    });
    return progress;
}

/// The means are measured in the background, and can be given up; what is written is the snapshot that was there when it was
/// asked for.
void ExportJob::correctAndWrite(const SnapshotPtr &snapshot, const session::ExportOptions &options)
{
    const auto share = std::make_shared<std::atomic<double>>(0);
    QProgressDialog *const progress = showProgress(share);
    m_correcting.start(
        [snapshot, share, data = m_jobs->calibrateOptions(), comparing = m_jobs->compareOptions(),
         isReported = options.report](std::stop_token stop) -> Result<Corrected> {
            // The comparison for the report takes the second half.
            const double half = isReported ? 0.5 : 1;
            const auto from = [share, half](double start) {
                return [share, half, start](double done, std::string_view) { *share = start + half * done; };
            };
            Corrected corrected;
            HALFTONE_TRY(corrected.derived, session::deriveCorrected(*snapshot, data, {stop, from(0)}));
            if (!isReported)
                return corrected;
            session::Snapshot shown = *snapshot;
            shown.converted = corrected.derived.converted;
            session::LiveComparison comparison;
            HALFTONE_TRY(walks::CompareOutcome outcome,
                         comparison.compare(shown, comparing, {stop, from(half)}));
            corrected.comparison = std::make_shared<const walks::CompareOutcome>(std::move(outcome));
            return corrected;
        },
        [this, snapshot, options, progress](const Result<Corrected> &corrected) {
            progress->disconnect(this); // to close it is not to cancel
            progress->close();
            progress->deleteLater();
            takeCorrected(*snapshot, options, corrected);
        });
}

void ExportJob::takeCorrected(const session::Snapshot &snapshot, session::ExportOptions options,
                              const Result<Corrected> &corrected)
{
    if (!corrected.ok()) {
        Q_EMIT failed(plain(corrected.error().message()));
        return;
    }
    const session::Derived &derived = corrected.value().derived;
    for (const std::string &note : derived.notes)
        Q_EMIT noted(plain(note));
    Q_EMIT noted(tr("biases of %1 int8 layers corrected").arg(derived.correctedBiases));
    options.corrected = derived.converted;
    options.correctedComparison = corrected.value().comparison;
    write(snapshot, options);
}

void ExportJob::write(const session::Snapshot &snapshot, const session::ExportOptions &options)
{
    QApplication::setOverrideCursor(Qt::WaitCursor);
    const auto picture = session::graphPicture(snapshot);
    const auto written = session::exportAll(snapshot, m_controller->figures(), options,
                                            picture.ok() ? picture.value() : std::string());
    QApplication::restoreOverrideCursor();
    if (!written.ok()) {
        Q_EMIT failed(plain(written.error().message()));
        return;
    }
    QStringList paths;
    for (const std::string &path : written.value())
        paths << widgets::pathText(path);
    Q_EMIT wrote(paths);
}

} // namespace halftone::app
