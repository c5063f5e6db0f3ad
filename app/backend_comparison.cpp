#include "app/backend_comparison.h"

#include "core/base/mapped_file.h"
#include "core/session/figures.h"
#include "widgets/common/formatters.h"

namespace halftone::app {

using widgets::plain;

BackendComparison::BackendComparison(widgets::DocumentController *controller, LiveJobs *jobs, QObject *parent)
    : QObject(parent)
    , m_controller(controller)
    , m_jobs(jobs)
{
    connect(controller, &widgets::DocumentController::documentChanged, this, &BackendComparison::forget);
    connect(jobs, &LiveJobs::dataChanged, this, &BackendComparison::forget);
}

QString BackendComparison::whyNot() const
{
    if (!m_controller->snapshot())
        return tr("Open a model first.");
    if (!m_jobs->data())
        return tr("Attach data first (Ctrl+D); backends are compared on the attached data.");
    return {};
}

std::vector<backends::BackendInfo> BackendComparison::others() const
{
    std::vector<backends::BackendInfo> all = backends::allBackends();
    std::erase_if(all, [this](const backends::BackendInfo &info) {
        return !info.available || info.name == m_jobs->settings().backend;
    });
    return all;
}

void BackendComparison::start(const std::string &other)
{
    walks::CompareOptions options = m_jobs->compareOptions();
    options.otherBackend = other;
    options.eachAlone = false; // a device of its own wants whole batches
    m_backend = options.backend;
    m_job.start(
        [options, session = m_controller->document()->session(),
         turn = m_jobs->turn()](const std::stop_token &stop) -> Result<walks::CompareOutcome> {
            const TakenTurn mine(turn, MachineTurn::Of::Figures, stop);
            if (!mine.isMine())
                return cancelled();
            auto outcome = session.compareBackends(options, {stop, {}});
            if (outcome.ok())
                HALFTONE_CHECK(MappedFile::checkAll());
            return outcome;
        },
        [this, other](Result<walks::CompareOutcome> outcome) { take(other, std::move(outcome)); });
    Q_EMIT runningChanged();
}

void BackendComparison::stop()
{
    if (!m_job.isRunning())
        return;
    m_job.cancel();
    Q_EMIT runningChanged();
}

void BackendComparison::take(const std::string &other, Result<walks::CompareOutcome> outcome)
{
    Q_EMIT runningChanged();
    const QString names = tr("%1 vs. %2").arg(plain(m_backend), plain(other));
    if (!outcome.ok()) {
        Q_EMIT failed(tr("Could not compare %1: %2").arg(names, plain(outcome.error().message())));
        return;
    }
    const compare::Comparison &comparison = outcome.value().comparison;
    QString what = names;
    if (!comparison.outputs.empty())
        what += tr(": output %1 dB").arg(widgets::decibels(comparison.outputs.front().figures.sqnrDb));
    if (const auto first = comparison.firstDivergence)
        what += tr(", first layer below %1 dB: %2")
                    .arg(widgets::decibels(comparison.threshold),
                         plain(m_controller->snapshot()->graph().node(comparison.layers[*first].node).name));
    session::Figures figures = m_controller->figures();
    figures.backends = std::make_shared<const session::BackendFigures>(
        session::BackendFigures{m_backend, other, std::move(outcome).value()});
    session::gatherByNode(figures, m_controller->snapshot()->graph());
    m_controller->setFigures(std::move(figures));
    Q_EMIT finished(what);
}

/// What belongs to another model or other data.
void BackendComparison::forget()
{
    stop();
    if (!m_controller->snapshot() || !m_controller->figures().backends)
        return;
    session::Figures figures = m_controller->figures();
    figures.backends.reset();
    session::gatherByNode(figures, m_controller->snapshot()->graph());
    m_controller->setFigures(std::move(figures));
}

} // namespace halftone::app
