#include "app/tune_job.h"

#include "core/base/mapped_file.h"
#include "widgets/common/formatters.h"

#include <mutex>

namespace halftone::app {

using widgets::plain;

namespace {

constexpr int kTunePollMs = 150;

/// Asks a model only when nothing else is being computed. What was computed from a file that was written to meanwhile is no answer.
class InTurn final : public tune::Oracle
{
public:
    InTurn(tune::Oracle &inner, std::shared_ptr<MachineTurn> turn)
        : m_inner(inner)
        , m_turn(std::move(turn))
    {
    }

    Result<std::optional<tune::Network>> sketch(const Progress &progress) override
    {
        return inTurn(progress, [&] { return m_inner.sketch(progress); });
    }
    Result<tune::Network> profile(const Progress &progress) override
    {
        return inTurn(progress, [&] { return m_inner.profile(progress); });
    }
    Result<std::optional<std::vector<tune::Link>>> timeConversions(const Progress &progress) override
    {
        return inTurn(progress, [&] { return m_inner.timeConversions(progress); });
    }
    void resume(const tune::Network &network) override { m_inner.resume(network); }
    bool canEstimate() const override { return m_inner.canEstimate(); }
    Result<double> estimate(const tune::Labels &labels, const Progress &progress) override
    {
        return inTurn(progress, [&] { return m_inner.estimate(labels, progress); });
    }
    Result<double> errorAlone(std::size_t group, tune::Label label, const Progress &progress) override
    {
        return inTurn(progress, [&] { return m_inner.errorAlone(group, label, progress); });
    }
    Result<tune::Measurement> measure(const tune::Labels &labels, const Progress &progress) override
    {
        return inTurn(progress, [&] { return m_inner.measure(labels, progress); });
    }
    Result<tune::Measurement> confirm(const tune::Labels &labels, const tune::Measurement &measured,
                                      const Progress &progress) override
    {
        return inTurn(progress, [&] { return m_inner.confirm(labels, measured, progress); });
    }

private:
    template <class Ask>
    auto inTurn(const Progress &progress, const Ask &ask) -> decltype(ask())
    {
        const TakenTurn mine(m_turn, MachineTurn::Of::Search, progress.stop);
        if (!mine.isMine())
            return cancelled();
        auto answer = ask();
        if (answer.ok())
            HALFTONE_CHECK(MappedFile::checkAll());
        return answer;
    }

    tune::Oracle &m_inner;
    std::shared_ptr<MachineTurn> m_turn;
};

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
    m_poll.setInterval(kTunePollMs);
    connect(&m_poll, &QTimer::timeout, this, &TuneJob::poll);
    connect(state, &widgets::TuneState::startWanted, this, &TuneJob::start);
    connect(state, &widgets::TuneState::repeatWanted, this, &TuneJob::measureAgain);
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
                           : !m_jobs->data()   ? tr("Attach data (Ctrl+D) to measure errors.")
                                               : QString());
}

tune::TuneTask TuneJob::task() const
{
    const auto &snapshot = m_controller->snapshot();
    // What a search has decided before would leave it nothing to decide.
    return {snapshot->source,
            snapshot->shapes,
            std::make_shared<const policy::Policy>(tune::withoutAdopted(*snapshot->policy)),
            m_jobs->compareOptions(),
            m_jobs->latencyOptions(),
            m_state->usesInt8()};
}

void TuneJob::takeUp(tune::Record record)
{
    if (m_state->isRunning())
        return;
    m_shared = std::make_shared<Shared>();
    m_shared->record = std::move(record);
    m_shared->record.basis = tune::basisOf(task());
    start();
}

void TuneJob::start()
{
    if (!m_controller->snapshot() || !m_jobs->data() || m_state->isRunning())
        return;
    const tune::TuneTask task = this->task();
    m_base = task.policy;
    m_jobs->cancel();
    auto shared = std::make_shared<Shared>();
    const std::string basis = tune::basisOf(task);
    if (m_shared && m_shared->record.basis == basis)
        shared->record = std::move(m_shared->record);
    else
        shared->record = tune::Record{basis, {}, {}, {}, {}, {}};
    m_shared = shared;
    tune::SearchSettings settings;
    settings.limit = m_state->limit();
    m_state->setProgress(tr("measuring groups\u2026"));
    m_state->setRunning(true);
    m_poll.start();
    m_job.start(
        [task, settings, shared, turn = m_jobs->turn()](const std::stop_token &) {
            tune::ModelOracle oracle(task);
            InTurn inTurn(oracle, turn);
            tune::RecordingOracle recording(inTurn, shared->record, {});
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

void TuneJob::measureAgain()
{
    if (m_state->isRunning() || !m_state->front())
        return;
    if (m_shared)
        tune::forgetUnreliable(m_shared->record, *m_state->front());
    start();
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
        m_state->setProgress(tr("%1 models measured in %2 s")
                                 .arg(found.evaluations)
                                 .arg(QString::number(found.seconds, 'f', 1)));
        m_state->setFront(std::make_shared<const tune::Front>(std::move(front).value()), m_base);
    } else {
        m_state->setProgress({});
        if (front.error().code != Errc::Cancelled)
            Q_EMIT failed(plain(front.error().message()));
    }
    m_state->setRunning(false);
    m_jobs->resume();
}

} // namespace halftone::app
