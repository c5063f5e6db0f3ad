#include "app/live_jobs.h"

#include "core/base/mapped_file.h"
#include "core/base/process_memory.h"
#include "core/session/result_basis.h"
#include "widgets/common/formatters.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace halftone::app {
namespace {

constexpr int kPollMs = 50;
constexpr int kReturnMs = 500; ///< until threads that were told to stop have let go of what they held

} // namespace

struct LiveJobs::Shared
{
    const QString what;
    std::atomic<double> share = 0;

    struct Interim
    {
        walks::CompareOutcome outcome;
        std::string basis;
        std::uint64_t revision = 0;
        bool isolated = false;
    };
    std::mutex lock;
    std::optional<Interim> interim; ///< that nobody has taken yet

    explicit Shared(QString text)
        : what(std::move(text))
    {
    }
    static Progress progress(const std::shared_ptr<Shared> &shared, std::stop_token stop)
    {
        return {std::move(stop), [shared](double share, std::string_view) { shared->share = share; }};
    }
};

LiveJobs::LiveJobs(widgets::DocumentController *controller, QObject *parent)
    : QObject(parent)
    , m_controller(controller)
    , m_shared(std::make_shared<Shared>(QString()))
    , m_comparison(std::make_shared<session::LiveComparison>())
    , m_meter(std::make_shared<session::LatencyMeter>())
{
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &LiveJobs::poll);
    m_returnSoon.setSingleShot(true);
    m_returnSoon.setInterval(kReturnMs);
    connect(&m_returnSoon, &QTimer::timeout, this, [this] {
        m_returning.start([](const std::stop_token &) { return returnFreedMemory(), true; }, [](bool) {});
    });
    connect(controller, &widgets::DocumentController::snapshotChanged, this, &LiveJobs::restart);
    connect(controller, &widgets::DocumentController::documentChanged, this, [this] {
        m_opening.cancel();
        m_job.cancel();
        m_data.reset();
        m_picturesThere.reset();
        m_restored.reset();
        m_state.isCalibrated = false;
        m_state.compared = m_state.isolated = m_state.measured = 0; // every document counts its own revisions
        m_sourceLost = false;
        m_returning.start( // freeing the values of many examples takes a while
            [comparison = std::exchange(m_comparison, std::make_shared<session::LiveComparison>()),
             meter = std::exchange(m_meter, std::make_shared<session::LatencyMeter>())](
                const std::stop_token &) mutable {
                comparison.reset();
                meter.reset();
                return true;
            },
            [](bool) {});
        restart();
        m_returnSoon
            .start(); // also where no job was under way: what was shown of the document is large by itself
    });
}

LiveJobs::~LiveJobs() = default;

void LiveJobs::setErrorsWanted(bool wanted)
{
    m_state.wantsErrors = wanted;
    restart();
}

void LiveJobs::setLatencyWanted(bool wanted)
{
    m_latencyWanted = wanted;
    restart();
    Q_EMIT latencyWantedChanged(wanted);
}

void LiveJobs::setInView(InView view)
{
    m_state.inView = view;
    if (session::givesWay(m_running, state()))
        restart();
}

void LiveJobs::setProposal(std::optional<policy::Edit> edit)
{
    m_proposal = std::move(edit);
    if (session::givesWay(m_running, state()))
        restart();
    else if (m_proposal && !m_busy)
        next();
}

void LiveJobs::setSettings(const JobSettings &settings)
{
    if (settings == m_settings)
        return;
    m_settings = settings;
    runAgain();
}

void LiveJobs::cancel()
{
    takeInterim();
    m_opening.cancel();
    m_job.cancel();
    m_state.isStopped = true;
    m_running = session::Job::None;
    setBusy(false);
    deferLatency(tr("Stopped. Run \u203a Compute Again (Shift+F5) measures the layer times."));
}

void LiveJobs::loseSource()
{
    cancel();
    m_sourceLost = true;
    m_restored.reset();
    forgetComputed();
    m_state.measured = 0;
    m_controller->setFigures({});
    deferLatency(whyNoLatency());
}

QString LiveJobs::whyNoLatency() const
{
    const auto &snapshot = m_controller->snapshot();
    if (m_sourceLost)
        return tr("No layer times: the model file was overwritten while it was open. Reload it.");
    if (snapshot && snapshot->isAwaited())
        return tr("No layer times yet: the model is being converted.");
    if (snapshot && snapshot->error && snapshot->error->code == Errc::Cancelled)
        return tr("No layer times: the conversion was stopped. Run \u203a Compute Again (Shift+F5) converts "
                  "the model.");
    if (snapshot && snapshot->error)
        return tr("No layer times: these lists cannot be applied.");
    if (snapshot && snapshot->policy->analysedFormat)
        return tr("No layer times: the target format is for analysis only.");
    return {};
}

void LiveJobs::deferLatency(const QString &why)
{
    if (std::exchange(m_whyNoLatency, why) != why)
        Q_EMIT latencyDeferred(why);
}

void LiveJobs::resume()
{
    if (m_state.isStopped)
        restart();
}

void LiveJobs::runAgain()
{
    m_state.measured = 0;
    m_restored.reset();
    forgetComputed(); // data may be others by now
    restart();
}

void LiveJobs::restart()
{
    m_state.isStopped = false;
    deferLatency({});
    m_job.cancel();
    next();
}

session::JobState LiveJobs::state() const
{
    session::JobState state = m_state;
    const auto &snapshot = m_controller->snapshot();
    const bool isConverted = snapshot && snapshot->converted && !snapshot->error;
    state.revision = isConverted && !m_sourceLost ? snapshot->revision : 0;
    state.hasData = m_data.has_value();
    state.hasInt8 = isConverted && !snapshot->converted->conversion.int8Group.empty();
    state.isForAnalysis = isConverted && snapshot->policy->analysedFormat;
    state.wantsLatency = m_latencyWanted;
    state.hasProposal = m_proposal.has_value();
    return state;
}

void LiveJobs::next()
{
    if (const QString why = whyNoLatency(); !why.isEmpty())
        deferLatency(why);
    const session::JobState now = state();
    if (now.revision != 0)
        showAwaited();
    if (now.canCompute() && (!now.hasInt8 || now.isCalibrated))
        takeRestored();
    m_running = session::nextJob(state());
    using session::Job;
    switch (m_running) {
    case Job::None:
        return setBusy(false);
    case Job::Errors:
    case Job::Isolated:
        return compare(m_running == Job::Isolated);
    case Job::Proposal:
        return compareProposal();
    case Job::Ranges:
        return calibrate();
    case Job::Latency:
        return measure();
    }
}

/// What the job of before has told is no longer of interest.
std::shared_ptr<LiveJobs::Shared> LiveJobs::begin(const char *what)
{
    m_shared = std::make_shared<Shared>(QString::fromUtf8(what));
    m_timeLeft = TimeLeft();
    setBusy(true);
    Q_EMIT progressed(0, m_shared->what, -1);
    return m_shared;
}

void LiveJobs::setBusy(bool busy)
{
    if (busy) {
        m_clock.start();
        m_poll.start();
    } else {
        m_poll.stop();
    }
    if (busy == m_busy)
        return;
    m_busy = busy;
    if (!busy)
        m_returnSoon.start();
    Q_EMIT busyChanged();
}

void LiveJobs::poll()
{
    takeInterim();
    const double share = m_shared->share;
    const double seconds = static_cast<double>(m_clock.elapsed()) / 1e3;
    Q_EMIT progressed(share, m_shared->what, m_timeLeft.after(seconds, share));
}

void LiveJobs::takeInterim()
{
    std::optional<Shared::Interim> interim;
    {
        const std::scoped_lock guard(m_shared->lock);
        interim.swap(m_shared->interim);
    }
    if (interim && m_busy)
        show(std::move(interim->outcome), interim->basis, interim->revision, interim->isolated);
}

void LiveJobs::show(walks::CompareOutcome outcome, const std::string &basis, std::uint64_t revision,
                    bool isolated)
{
    session::Figures figures = m_controller->figures();
    figures.comparison = std::make_shared<const walks::CompareOutcome>(std::move(outcome));
    figures.comparisonRevision = revision;
    figures.comparisonBasis = basis;
    if (isolated)
        figures.isolatedRevision = revision;
    session::gatherByNode(figures, m_controller->snapshot()->graph());
    m_controller->setFigures(std::move(figures));
}

void LiveJobs::fail(const Error &error)
{
    m_state.isStopped = true;
    m_running = session::Job::None;
    setBusy(false);
    if (error.code == Errc::Cancelled)
        return;
    const QString what = widgets::plain(error.message());
    deferLatency(tr("No layer times: %1").arg(what));
    if (error.field == Field::Memory)
        Q_EMIT lacksMemory(what);
    else
        Q_EMIT failed(what);
}

/// As m_job's, once nothing else is being measured. What was computed from a file that was written to meanwhile is no result.
template <class Work, class Deliver>
void LiveJobs::startInTurn(Work work, Deliver deliver)
{
    m_job.start(
        [turn = m_turn, work = std::move(work)](std::stop_token stop) mutable -> decltype(work(stop)) {
            const TakenTurn mine(turn, MachineTurn::Of::Figures, stop);
            if (!mine.isMine())
                return cancelled();
            auto result = work(std::move(stop));
            if (result.ok())
                HALFTONE_CHECK(MappedFile::checkAll());
            return result;
        },
        std::move(deliver));
}

void LiveJobs::compare(bool isolated)
{
    const auto shared = begin(isolated ? "isolating each layer" : "comparing layers");
    walks::CompareOptions options = compareOptions(*m_data);
    options.settings.isolated = isolated;
    const auto basis = std::make_shared<std::string>(); // of the data as they are when they are read
    startInTurn(
        [options, snapshot = m_controller->snapshot(), live = m_comparison, isolated, basis,
         shared](std::stop_token stop) {
            *basis = session::comparisonBasis(options, snapshot->source->modelPath);
            return live->compare(*snapshot, options, Shared::progress(shared, std::move(stop)),
                                 [&](walks::CompareOutcome outcome) {
                                     if (!MappedFile::checkAll().ok())
                                         return; // as the end of the job will say
                                     const std::scoped_lock guard(shared->lock);
                                     shared->interim = Shared::Interim{std::move(outcome), *basis,
                                                                       snapshot->revision, isolated};
                                 });
        },
        [this, isolated, basis,
         revision = m_controller->snapshot()->revision](Result<walks::CompareOutcome> outcome) {
            if (!outcome.ok())
                return fail(outcome.error());
            m_state.compared = revision;
            if (isolated)
                m_state.isolated = revision;
            show(std::move(outcome).value(), *basis, revision, isolated);
            next();
        });
}

/// Computes only what the edit would change; when it is made, the values are there already.
void LiveJobs::compareProposal()
{
    const auto shared = begin("evaluating the suggestion");
    startInTurn(
        [options = compareOptions(*m_data), snapshot = m_controller->snapshot(), edit = *m_proposal,
         live = m_comparison, shared](std::stop_token stop) -> Result<walks::CompareOutcome> {
            const Progress progress = Shared::progress(shared, std::move(stop));
            HALFTONE_TRY(const auto after, session::Document::afterEdit(*snapshot, edit, progress));
            return live->compare(*after, options, progress);
        },
        [this](const Result<walks::CompareOutcome> &outcome) {
            m_proposal.reset();
            if (outcome.ok())
                Q_EMIT proposalCompared(outcome.value());
            next();
        });
}

void LiveJobs::calibrate()
{
    const auto shared = begin("collecting ranges");
    const walks::CalibrateOptions options = calibrateOptions();
    startInTurn(
        [options, snapshot = m_controller->snapshot(), shared](std::stop_token stop) {
            return walks::calibrateModel(snapshot->source->model, snapshot->source->modelPath, options,
                                         Shared::progress(shared, std::move(stop)));
        },
        [this](Result<walks::CalibrateOutcome> outcome) {
            if (!outcome.ok())
                return fail(outcome.error());
            session::Figures figures = m_controller->figures();
            figures.calibration = std::make_shared<const walks::CalibrateOutcome>(std::move(outcome).value());
            m_state.isCalibrated = true;
            m_controller->setFigures(std::move(figures));
            next();
        });
}

void LiveJobs::measure()
{
    const auto shared = begin("measuring latency");
    const session::LatencyOptions options = latencyOptions();
    startInTurn(
        [options, snapshot = m_controller->snapshot(), meter = m_meter, shared](std::stop_token stop) {
            return meter->measure(*snapshot, options, Shared::progress(shared, std::move(stop)));
        },
        [this, options,
         revision = m_controller->snapshot()->revision](Result<session::LatencyFigures> outcome) {
            if (!outcome.ok() && outcome.error().code == Errc::BadInput && !m_data) { // they give the shapes
                m_state.measured = revision;
                deferLatency(tr("No layer times yet: %1. Attach data (Ctrl+D) to provide the input shapes.")
                                 .arg(widgets::plain(outcome.error().message())));
                Q_EMIT noted(tr("No latency yet: %1").arg(widgets::plain(outcome.error().message())));
                return next();
            }
            if (!outcome.ok())
                return fail(outcome.error());
            session::Figures figures = m_controller->figures();
            figures.latency = std::make_shared<const session::LatencyFigures>(std::move(outcome).value());
            figures.latencyRevision = revision;
            figures.latencyBasis = session::latencyBasis(options);
            session::gatherByNode(figures, m_controller->snapshot()->graph());
            m_state.measured = revision;
            m_controller->setFigures(std::move(figures));
            next();
        });
}

} // namespace halftone::app
