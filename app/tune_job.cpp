#include "app/tune_job.h"

#include "core/backends/backends.h"
#include "core/tune/model_oracle.h"
#include "core/tune/recording.h"
#include "widgets/common/formatters.h"

#include <mutex>

namespace halftone::app {

using widgets::plain;

namespace {

constexpr int kPollMs = 150;

} // namespace

struct TuneJob::Shared
{
    std::mutex lock;
    std::shared_ptr<const tune::Front> front; ///< the newest
    std::string what;
    double share = 0;
    bool isNew = false;
    tune::Record record; ///< of the last search, once it has ended
    std::stop_source stop; ///< ends the search, which then gives what it has
};

TuneJob::TuneJob(widgets::DocumentController *controller, LiveJobs *jobs, widgets::TuneState *state,
                 QObject *parent)
    : QObject(parent)
    , m_controller(controller)
    , m_jobs(jobs)
    , m_state(state)
{
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &TuneJob::poll);
    connect(state, &widgets::TuneState::startWanted, this, &TuneJob::start);
    connect(state, &widgets::TuneState::stopWanted, this, &TuneJob::stop);
    connect(controller, &widgets::DocumentController::documentChanged, this, &TuneJob::forget);
    connect(controller, &widgets::DocumentController::snapshotChanged, this, &TuneJob::refresh);
    connect(jobs, &LiveJobs::dataChanged, this, &TuneJob::refresh);
    refresh();
}

TuneJob::~TuneJob()
{
    if (m_shared)
        m_shared->stop.request_stop();
}

void TuneJob::forget()
{
    if (m_shared)
        m_shared->stop.request_stop();
    m_job.cancel();
    m_poll.stop();
    m_shared.reset();
    m_base.reset();
    if (m_state->isRunning())
        m_state->setRunning(false);
    refresh();
}

/// Can a search begin?
void TuneJob::refresh()
{
    m_state->setWhyNot(!m_controller->isOpen() ? tr("Open a model first.")
                           : !m_jobs->data()   ? tr("Attach data to measure errors on (Ctrl+D).")
                                               : QString());
}

void TuneJob::start()
{
    const auto snapshot = m_controller->snapshot();
    if (!snapshot || !m_jobs->data() || m_state->isRunning())
        return;
    // What a point was adopted from is searched on: its own names would leave nothing to decide.
    const bool goesOn = m_state->canContinue() && m_base;
    if (!goesOn)
        m_base = snapshot->policy;
    m_jobs->cancel();
    tune::TuneTask task{snapshot->source,         snapshot->shapes,         m_base,
                        m_jobs->compareOptions(), m_jobs->latencyOptions(), m_state->usesInt8()};
    auto shared = std::make_shared<Shared>();
    const std::string basis = tune::basisOf(task);
    if (m_shared && m_shared->record.basis == basis)
        shared->record = std::move(m_shared->record);
    else
        shared->record = tune::Record{basis, {}, {}, {}};
    m_shared = shared;
    tune::SearchSettings settings;
    settings.limit = m_state->limit();
    m_state->setProgress(tr("measuring groups\u2026"));
    m_state->setRunning(true);
    m_poll.start();
    m_job.start(
        [task, settings, shared](const std::stop_token &) {
            tune::ModelOracle oracle(task);
            tune::RecordingOracle recording(oracle, shared->record, {});
            const Progress progress{shared->stop.get_token(), [&](double share, std::string_view what) {
                                        const std::scoped_lock guard(shared->lock);
                                        shared->share = share;
                                        shared->what = what;
                                        shared->isNew = true;
                                    }};
            auto found = tune::search(recording, settings, progress, [&](const tune::Front &front) {
                const std::scoped_lock guard(shared->lock);
                shared->front = std::make_shared<const tune::Front>(front);
                shared->isNew = true;
            });
            shared->record = recording.record();
            return found;
        },
        [this](Result<tune::Front> front) { finish(std::move(front)); });
}

void TuneJob::stop()
{
    if (m_shared)
        m_shared->stop.request_stop();
    m_state->setProgress(tr("stopping\u2026"));
}

void TuneJob::poll()
{
    const std::scoped_lock guard(m_shared->lock);
    if (!std::exchange(m_shared->isNew, false))
        return;
    m_state->setProgress(
        tr("%1 %, %2").arg(static_cast<int>(100 * m_shared->share)).arg(plain(m_shared->what)));
    if (m_shared->front && m_shared->front.get() != m_state->front())
        m_state->setFront(m_shared->front, m_base);
}

void TuneJob::finish(Result<tune::Front> front)
{
    m_poll.stop();
    if (front.ok()) {
        const tune::Front &found = front.value();
        m_state->setProgress(tr("%1 networks measured in %2 s")
                                 .arg(found.evaluations)
                                 .arg(QString::number(found.seconds, 'f', 1)));
        m_state->setFront(std::make_shared<const tune::Front>(std::move(front).value()), m_base);
    } else {
        m_state->setProgress({});
        if (front.error().code != Errc::Cancelled)
            Q_EMIT failed(plain(front.error().message()));
    }
    m_state->setRunning(false);
}

} // namespace halftone::app
