#include "app/live_jobs.h"

#include "core/session/result_basis.h"
#include "core/session/saved_results.h"
#include "widgets/common/formatters.h"

#include <atomic>
#include <mutex>

namespace halftone::app {
namespace {

constexpr int kPollMs = 50;

} // namespace

struct LiveJobs::Shared
{
    std::atomic<double> share = 0;
    std::mutex lock;
    std::string what;
};

struct LiveJobs::OpenedData
{
    std::vector<std::pair<std::string, tensor::Shape>> shapes;
    std::string basis; ///< of a comparison over the data
};

LiveJobs::LiveJobs(widgets::DocumentController *controller, QObject *parent)
    : QObject(parent)
    , m_controller(controller)
    , m_shared(std::make_shared<Shared>())
    , m_comparison(std::make_shared<session::LiveComparison>())
    , m_meter(std::make_shared<session::LatencyMeter>())
{
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &LiveJobs::poll);
    connect(controller, &widgets::DocumentController::snapshotChanged, this, &LiveJobs::restart);
    connect(controller, &widgets::DocumentController::documentChanged, this, [this] {
        m_opening.cancel();
        m_job.cancel();
        m_data.reset();
        m_restored.reset();
        m_calibrated = false;
        m_comparison = std::make_shared<session::LiveComparison>();
        m_meter = std::make_shared<session::LatencyMeter>();
        restart();
    });
}

LiveJobs::~LiveJobs() = default;

/// Whatever belongs to the data of before.
void LiveJobs::forgetComputed()
{
    m_calibrated = false;
    m_comparedRevision = m_isolatedRevision = 0;
    m_comparison = std::make_shared<session::LiveComparison>();
}

void LiveJobs::setData(std::optional<jobs::ExampleOptions> data)
{
    m_opening.cancel();
    m_job.cancel();
    if (!data || !m_controller->snapshot()) {
        forgetComputed();
        m_data.reset();
        m_controller->setFigures({});
        Q_EMIT dataChanged();
        restart();
        return;
    }
    setBusy(true);
    m_opening.start(
        [options = compareOptions(*data),
         session = m_controller->document()->session()](std::stop_token) mutable -> Result<OpenedData> {
            const std::string &model = session.source().modelPath;
            OpenedData opened;
            HALFTONE_TRY(opened.shapes,
                         jobs::shapesOfOne(options.examples, session.source().model.graph, model));
            for (const auto &[name, shape] : opened.shapes)
                HALFTONE_CHECK(session.setInputShape(name, shape));
            std::vector<std::string> notes;
            HALFTONE_CHECK(session.shapes(notes)); // whether they fit the model
            opened.basis = session::comparisonBasis(options, model);
            return opened;
        },
        [this, data](const Result<OpenedData> &opened) {
            setBusy(false);
            if (opened.ok()) {
                takeData(*data, opened.value());
                return;
            }
            Q_EMIT failed(tr("Not attached: %1").arg(widgets::plain(opened.error().message())));
            next(); // what was under way for the data that stay
        });
}

void LiveJobs::takeData(const jobs::ExampleOptions &data, const OpenedData &opened)
{
    const bool isReplaced = m_data.has_value();
    forgetComputed();
    m_data = data;
    m_basis = opened.basis;
    if (isReplaced) { // dimmed until they are computed anew
        session::Figures figures = m_controller->figures();
        figures.comparisonRevision = figures.isolatedRevision = 0;
        m_controller->setFigures(std::move(figures));
    }
    Q_EMIT dataChanged();
    if (!m_controller->setInputShapes(opened.shapes))
        restart(); // otherwise the changed snapshot has done it
}

void LiveJobs::setErrorsWanted(bool wanted)
{
    m_errorsWanted = wanted;
    restart();
}

void LiveJobs::setLatencyWanted(bool wanted)
{
    m_latencyWanted = wanted;
    restart();
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
    m_opening.cancel();
    m_job.cancel();
    m_stopped = true;
    setBusy(false);
}

void LiveJobs::runAgain()
{
    m_comparedRevision = m_isolatedRevision = m_measuredRevision = 0;
    m_calibrated = false;
    m_restored.reset();
    m_comparison = std::make_shared<session::LiveComparison>(); // data may be others by now
    restart();
}

void LiveJobs::restart()
{
    m_stopped = false;
    m_job.cancel();
    next();
}

/// Errors first, since they answer an edit; the measurement last, since it suffers from whatever runs beside it.
void LiveJobs::next()
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot || !snapshot->converted || snapshot->error || m_stopped) {
        setBusy(false);
        return;
    }
    const std::uint64_t now = snapshot->revision;
    // int8 operators take their ranges from the statistics, and are converted anew when these come.
    const bool needsRanges = !snapshot->converted->conversion.int8Group.empty();
    if (!needsRanges || m_calibrated)
        takeRestored();
    if (needsRanges && m_data && !m_calibrated)
        calibrate();
    else if (m_errorsWanted && m_data && m_comparedRevision != now)
        compare(false);
    else if (m_errorsWanted && m_data && m_isolatedRevision != now)
        compare(true);
    else if (m_data && !m_calibrated)
        calibrate();
    else if (m_latencyWanted && m_measuredRevision != now)
        measure();
    else
        setBusy(false);
}

void LiveJobs::setBusy(bool busy)
{
    if (busy) {
        m_clock.start();
        m_shared->share = 0;
        m_poll.start();
    } else {
        m_poll.stop();
    }
    if (busy == m_busy)
        return;
    m_busy = busy;
    Q_EMIT busyChanged();
}

void LiveJobs::poll()
{
    const double share = m_shared->share;
    const double seconds = static_cast<double>(m_clock.elapsed()) / 1e3;
    QString what;
    {
        const std::scoped_lock guard(m_shared->lock);
        what = widgets::plain(m_shared->what);
    }
    Q_EMIT progressed(share, what, share > 0.02 && seconds > 1 ? seconds * (1 - share) / share : -1);
}

Progress LiveJobs::progressTo(std::stop_token stop, const char *what) const
{
    {
        const std::scoped_lock guard(m_shared->lock);
        m_shared->what = what;
    }
    return {std::move(stop), [shared = m_shared](double share, std::string_view) { shared->share = share; }};
}

void LiveJobs::fail(const Error &error)
{
    m_stopped = true;
    setBusy(false);
    if (error.code != Errc::Cancelled)
        Q_EMIT failed(widgets::plain(error.message()));
}

jobs::CompareOptions LiveJobs::compareOptions(const jobs::ExampleOptions &examples) const
{
    jobs::CompareOptions options;
    options.examples = examples;
    options.backend = m_settings.backend;
    options.threads = m_settings.threads;
    options.settings.memoryLimit = m_settings.memoryLimit;
    return options;
}

session::LatencyOptions LiveJobs::latencyOptions() const
{
    session::LatencyOptions options;
    options.backend = backends::planningBackendFor(m_settings.backend);
    options.threads = m_settings.threads;
    options.settings.repeats = m_settings.repeats;
    return options;
}

Result<void> LiveJobs::restore(const std::string &results)
{
    const auto &snapshot = m_controller->snapshot();
    HALFTONE_TRY(session::Figures figures, session::readResults(results, *snapshot));
    m_restored = Restored{results, *snapshot->policy, 0};
    m_controller->setFigures(std::move(figures));
    return {};
}

/// Also after an edit and its undo: the same policy, data and settings give the same figures.
void LiveJobs::takeRestored()
{
    const std::shared_ptr<const session::Snapshot> snapshot = m_controller->snapshot();
    if (!m_restored || m_restored->takenFor == snapshot->revision || m_restored->policy != *snapshot->policy)
        return;
    m_restored->takenFor = snapshot->revision;
    auto read = session::readResults(m_restored->results, *snapshot);
    if (!read.ok()) // nodes are told by number, so that what was read once is read again
        return;
    const session::Figures &kept = read.value();
    session::Figures figures = m_controller->figures();
    const bool isCompared = kept.comparison && m_data && kept.comparisonBasis == m_basis;
    const bool isMeasured = kept.latency && kept.latencyBasis == session::latencyBasis(latencyOptions());
    if (isCompared) {
        figures.comparison = kept.comparison;
        figures.comparisonBasis = kept.comparisonBasis;
        figures.comparisonRevision = m_comparedRevision = kept.comparisonRevision;
        figures.isolatedRevision = m_isolatedRevision = kept.isolatedRevision;
    }
    if (isMeasured) {
        figures.latency = kept.latency;
        figures.latencyBasis = kept.latencyBasis;
        figures.latencyRevision = m_measuredRevision = kept.latencyRevision;
    }
    if (!isCompared && !isMeasured)
        return;
    session::gatherByNode(figures, snapshot->graph());
    m_controller->setFigures(std::move(figures));
}

void LiveJobs::compare(bool isolated)
{
    setBusy(true);
    jobs::CompareOptions options = compareOptions(*m_data);
    options.settings.isolated = isolated;
    const auto basis = std::make_shared<std::string>(); // of the data as they are when they are read
    m_job.start(
        [this, options, snapshot = m_controller->snapshot(), live = m_comparison, isolated,
         basis](std::stop_token stop) {
            *basis = session::comparisonBasis(options, snapshot->source->modelPath);
            return live->compare(
                *snapshot, options,
                progressTo(std::move(stop), isolated ? "each layer alone" : "comparing layers"));
        },
        [this, isolated, basis,
         revision = m_controller->snapshot()->revision](Result<jobs::CompareOutcome> outcome) {
            if (!outcome.ok())
                return fail(outcome.error());
            session::Figures figures = m_controller->figures();
            figures.comparison = std::make_shared<const jobs::CompareOutcome>(std::move(outcome).value());
            figures.comparisonRevision = revision;
            figures.comparisonBasis = *basis;
            if (isolated)
                figures.isolatedRevision = revision;
            session::gatherByNode(figures, m_controller->snapshot()->graph());
            m_comparedRevision = revision;
            if (isolated)
                m_isolatedRevision = revision;
            m_controller->setFigures(std::move(figures));
            next();
        });
}

jobs::CalibrateOptions LiveJobs::calibrateOptions() const
{
    jobs::CalibrateOptions options;
    options.examples = *m_data;
    options.backend = m_settings.backend;
    options.threads = m_settings.threads;
    // As a conversion would choose, so that nothing has to be searched for again.
    options.threshold.codes = calibration::CodeType::Auto;
    options.threshold.method
        = m_controller->document()->policy().thresholdMethod.value_or(policy::kDefaultThresholdMethod);
    return options;
}

void LiveJobs::calibrate()
{
    setBusy(true);
    const jobs::CalibrateOptions options = calibrateOptions();
    m_job.start(
        [this, options, snapshot = m_controller->snapshot()](std::stop_token stop) {
            return jobs::calibrateModel(snapshot->source->model, snapshot->source->modelPath, options,
                                        progressTo(std::move(stop), "collecting ranges"));
        },
        [this](Result<jobs::CalibrateOutcome> outcome) {
            if (!outcome.ok())
                return fail(outcome.error());
            session::Figures figures = m_controller->figures();
            figures.calibration = std::make_shared<const jobs::CalibrateOutcome>(std::move(outcome).value());
            m_calibrated = true;
            m_controller->setFigures(std::move(figures));
            next();
        });
}

void LiveJobs::measure()
{
    setBusy(true);
    const session::LatencyOptions options = latencyOptions();
    m_job.start(
        [this, options, snapshot = m_controller->snapshot(), meter = m_meter](std::stop_token stop) {
            return meter->measure(*snapshot, options, progressTo(std::move(stop), "measuring latency"));
        },
        [this, options,
         revision = m_controller->snapshot()->revision](Result<session::LatencyFigures> outcome) {
            if (!outcome.ok() && outcome.error().code == Errc::BadInput && !m_data) { // data tell the shapes
                m_measuredRevision = revision;
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
            m_measuredRevision = revision;
            m_controller->setFigures(std::move(figures));
            next();
        });
}

} // namespace halftone::app
