#include "app/hosts/run_on_hosts.h"

#include "core/base/mapped_file.h"
#include "core/session/shard_results.h"
#include "core/tune/shared_basis.h"
#include "widgets/common/formatters.h"

#include <QCoreApplication>
#include <QStandardPaths>

namespace halftone::app {

using widgets::plain;

namespace {

Result<shards::StatisticsShard> statisticsIn(const std::string &path)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    auto read = shards::readStatistics(file->bytes());
    return read.ok() ? std::move(read)
                     : Result<shards::StatisticsShard>(inFile(std::move(read).error(), path));
}

Result<tune::Record> recordIn(const std::string &path, const tune::TuneTask &task)
{
    HALFTONE_TRY(const auto file, MappedFile::open(path));
    auto record = tune::readRecord(file->text());
    if (!record.ok())
        return inFile(std::move(record).error(), path);
    HALFTONE_TRY(const shards::StatisticsOrigin origin, tune::originOf(task));
    if (record.value().basis != tune::basisOf(origin))
        return inFile(badInput("basis", record.value().basis, tune::basisOf(origin)), path);
    return record;
}

} // namespace

RunOnHosts::RunOnHosts(widgets::DocumentController *controller, LiveJobs *jobs, widgets::TuneState *tune,
                       TuneJob *tuning, QObject *parent)
    : QObject(parent)
    , m_controller(controller)
    , m_jobs(jobs)
    , m_tune(tune)
    , m_tuning(tuning)
{
    connect(&m_job, &HostsJob::finished, this, [this] { take(*m_job.run()); });
    connect(&m_job, &HostsJob::failed, this, &RunOnHosts::failed);
    connect(controller, &widgets::DocumentController::documentChanged, this, [this] { m_taking.cancel(); });
}

QString RunOnHosts::usualFolder()
{
    return QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation) + QStringLiteral("/hosts");
}

QString RunOnHosts::usualProgram()
{
    return QCoreApplication::applicationDirPath() + QStringLiteral("/halftone-mpi");
}

QString RunOnHosts::whyNot() const
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot)
        return tr("Open a model first.");
    if (!m_jobs->data())
        return tr("Attach data first (Ctrl+D); the hosts compute with the attached data.");
    if (m_sourceDiffers)
        return tr("The model file has changed since it was read, and the hosts would use the new one. "
                  "Reload it first.");
    if (!snapshot->converted || snapshot->error || m_controller->isDeriving())
        return tr("The conversion is not ready yet.");
    return {};
}

HostRun RunOnHosts::runFor(HostTask task, std::size_t examples, bool isolated) const
{
    HostRequest request;
    request.task = task;
    request.snapshot = m_controller->snapshot();
    request.shapes = m_controller->document()->session().inputShapes();
    request.calibrate = m_jobs->calibrateOptions();
    request.compare = m_jobs->compareOptions();
    request.dataBasis = m_jobs->basis();
    if (task == HostTask::Tune) {
        request.base = m_tuning->task().policy;
        request.hasInt8 = m_tune->usesInt8();
        request.limit = m_tune->limit();
    } else {
        request.calibrate.examples.examples = request.compare.examples.examples = examples;
        if (examples != m_jobs->data()->examples)
            request.dataBasis += "; on hosts, examples " + std::to_string(examples);
        request.isolated = isolated && task == HostTask::Compare;
    }
    return {std::move(request), usualFolder().toStdString()};
}

/// The model, the data and, but for a calibration, the lists.
bool RunOnHosts::isOf(const HostRun &run) const
{
    if (!whyNot().isEmpty())
        return false;
    const HostRequest &asked = run.request();
    const std::size_t examples = asked.compare.examples.examples;
    return runFor(asked.task, examples, asked.isolated).folder() == run.folder();
}

template <class Read, class Take>
void RunOnHosts::readThen(Read read, Take take)
{
    m_taking.start(std::move(read), [this, take = std::move(take)](auto result) {
        if (result.ok())
            Q_EMIT taken(take(std::move(result).value()));
        else
            Q_EMIT failed(tr("The result could not be loaded: %1").arg(plain(result.error().message())));
    });
}

void RunOnHosts::take(const HostRun &run)
{
    if (!isOf(run)) {
        Q_EMIT failed(
            tr("The hosts have finished, but the model, data or lists have changed since. Restore them, then "
               "select Run on Hosts to load the result."));
        return;
    }
    if (run.request().task == HostTask::Tune && m_tune->isRunning()) {
        Q_EMIT failed(tr("The hosts have finished, but a search is running in this window. Stop it, then "
                         "select Run on Hosts to "
                         "load the result."));
        return;
    }
    switch (run.request().task) {
    case HostTask::Calibrate:
        return takeCalibration(run);
    case HostTask::Compare:
        return takeComparison(run);
    case HostTask::Tune:
        return takeSearch(run);
    }
}

void RunOnHosts::takeCalibration(const HostRun &run)
{
    readThen(
        [run](std::stop_token stop) -> Result<walks::CalibrateOutcome> {
            HALFTONE_TRY(const shards::StatisticsShard whole, statisticsIn(run.statistics()));
            return session::calibrationFrom(whole, *run.request().snapshot, run.request().calibrate.threads,
                                            Progress{std::move(stop), {}});
        },
        [this](walks::CalibrateOutcome outcome) {
            QString what = tr("Calibrated on hosts with %1 examples.").arg(outcome.examples);
            m_jobs->takeCalibration(std::move(outcome));
            return what;
        });
}

void RunOnHosts::takeComparison(const HostRun &run)
{
    readThen(
        [run](const std::stop_token &) -> Result<walks::CompareOutcome> {
            HALFTONE_TRY(const shards::StatisticsShard whole, statisticsIn(run.statistics()));
            return session::comparisonFrom(whole, *run.request().snapshot);
        },
        [this, basis = run.request().dataBasis,
         isolated = run.request().isolated](walks::CompareOutcome outcome) {
            QString what = tr("Compared on hosts with %1 examples.").arg(outcome.examples);
            m_jobs->takeComparison(std::move(outcome), basis, isolated);
            return what;
        });
}

void RunOnHosts::takeSearch(const HostRun &run)
{
    readThen([task = m_tuning->task(),
              file = run.statistics()](const std::stop_token &) { return recordIn(file, task); },
             [this](tune::Record record) {
                 QString what
                     = tr("Search on hosts finished: %1 models measured.").arg(record.measured.size());
                 m_tuning->takeUp(std::move(record));
                 return what;
             });
}

} // namespace halftone::app
