#include "app/live_jobs.h"
#include "core/io/pictures/picture.h"
#include "core/session/result_basis.h"
#include "core/session/saved_results.h"
#include "core/tasks/task_count.h"
#include "core/walks/runtime_model.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"

#include <filesystem>
#include <utility>

/// Where the figures of a live document come from besides computing: its data, and what a session file holds.
namespace halftone::app {

struct LiveJobs::OpenedData
{
    std::vector<std::pair<std::string, tensor::Shape>> shapes;
    std::string basis; ///< of a comparison over the data
    std::optional<std::size_t> picturesThere; ///< where not all of them are taken
};

namespace {

constexpr std::size_t kAttempts
    = 2; ///< to measure while the machine has other work; what is disturbed still is marked

/// Whether the first output can be judged at all.
Result<void> checkTask(const walks::ExampleOptions &examples, const graph::Model &source,
                       const std::string &model)
{
    if (examples.targets.empty() && !examples.metric)
        return {};
    HALFTONE_TRY(const auto opened, walks::openExamples(examples, source, model));
    HALFTONE_TRY(const auto task, walks::taskOf(examples, *opened, source.graph));
    return {};
}

std::optional<std::size_t> picturesBeyond(const walks::ExampleOptions &data)
{
    std::error_code none;
    if (data.examples == 0 || !std::filesystem::is_directory(data.inputs, none))
        return std::nullopt;
    const auto names = io::picturesIn(data.inputs);
    return names.ok() && names.value().size() > data.examples ? std::optional(names.value().size())
                                                              : std::nullopt;
}

} // namespace

/// Whatever belongs to the data of before.
void LiveJobs::forgetComputed()
{
    m_state.isCalibrated = false;
    m_state.compared = m_state.isolated = 0;
    m_comparison = std::make_shared<session::LiveComparison>();
}

void LiveJobs::setData(std::optional<walks::ExampleOptions> data)
{
    m_opening.cancel();
    m_job.cancel();
    if (!data || !m_controller->snapshot()) {
        forgetComputed();
        m_data.reset();
        m_picturesThere.reset();
        m_controller->setFigures({});
        Q_EMIT dataChanged();
        restart();
        return;
    }
    begin("reading the data");
    m_opening.start(
        [options = compareOptions(*data), session = m_controller->document()->session()](
            const std::stop_token &) mutable -> Result<OpenedData> {
            const std::string &model = session.source().modelPath;
            OpenedData opened;
            HALFTONE_TRY(opened.shapes, walks::shapesOfOne(options.examples, session.source().model, model));
            for (const auto &[name, shape] : opened.shapes)
                HALFTONE_CHECK(session.setInputShape(name, shape));
            std::vector<std::string> notes;
            HALFTONE_CHECK(session.shapes(notes)); // whether they fit the model
            HALFTONE_CHECK(checkTask(options.examples, session.source().model, model));
            opened.basis = session::comparisonBasis(options, model);
            opened.picturesThere = picturesBeyond(options.examples);
            return opened;
        },
        [this, data](const Result<OpenedData> &opened) {
            setBusy(false);
            if (opened.ok()) {
                takeData(*data, opened.value());
                return;
            }
            Q_EMIT failed(tr("Could not attach %1: %2")
                              .arg(widgets::shownName(widgets::pathText(data->inputs)),
                                   widgets::plain(opened.error().message())));
            next(); // what was under way for the data that stay
        });
}

void LiveJobs::takeData(const walks::ExampleOptions &data, const OpenedData &opened)
{
    const bool isReplaced = m_data.has_value();
    if (isReplaced && data.hasInputsOf(*m_data))
        m_state.compared = m_state.isolated = 0; // values and ranges are those of before
    else
        forgetComputed();
    m_data = data;
    m_basis = opened.basis;
    m_picturesThere = opened.picturesThere;
    if (m_picturesThere)
        Q_EMIT noted(
            tr("Attached the first %1 of %2 pictures in %3. To use more, select Model \u203a Attach Data.")
                .arg(data.examples)
                .arg(*m_picturesThere)
                .arg(widgets::plain(data.inputs)));
    if (isReplaced) { // dimmed until they are computed anew
        session::Figures figures = m_controller->figures();
        figures.comparisonRevision = figures.isolatedRevision = 0;
        m_controller->setFigures(std::move(figures));
    }
    Q_EMIT dataChanged();
    if (!m_controller->setInputShapes(opened.shapes))
        restart(); // otherwise the changed snapshot has done it
}

Result<void> LiveJobs::restore(const std::string &results)
{
    const session::Snapshot &snapshot = *m_controller->snapshot();
    m_restored = Restored{results, *snapshot.policy, 0, snapshot.isAwaited()};
    auto shown = showRestored();
    if (!shown.ok())
        m_restored.reset();
    return shown;
}

/// Whatever else has changed: it counts as stale where data, shapes or settings are others.
Result<void> LiveJobs::showRestored()
{
    HALFTONE_TRY(session::Figures figures,
                 session::readResults(m_restored->results, *m_controller->snapshot()));
    m_controller->setFigures(std::move(figures));
    return {};
}

/// What could not be shown before there was a conversion.
void LiveJobs::showAwaited()
{
    if (m_restored && std::exchange(m_restored->awaitsConversion, false)
        && m_restored->policy == *m_controller->snapshot()->policy && !showRestored().ok())
        m_restored.reset();
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
        figures.comparisonRevision = m_state.compared = kept.comparisonRevision;
        figures.isolatedRevision = m_state.isolated = kept.isolatedRevision;
    }
    if (isMeasured) {
        figures.latency = kept.latency;
        figures.latencyBasis = kept.latencyBasis;
        figures.latencyRevision = m_state.measured = kept.latencyRevision;
    }
    if (!isCompared && !isMeasured)
        return;
    session::gatherByNode(figures, snapshot->graph());
    m_controller->setFigures(std::move(figures));
}

void LiveJobs::takeCalibration(walks::CalibrateOutcome outcome)
{
    m_job.cancel();
    session::Figures figures = m_controller->figures();
    figures.calibration = std::make_shared<const walks::CalibrateOutcome>(std::move(outcome));
    m_state.isCalibrated = true;
    m_controller->setFigures(std::move(figures));
    restart();
}

/// Layers alone are not computed here where the others have none: that would put figures over fewer examples in place of these.
void LiveJobs::takeComparison(walks::CompareOutcome outcome, const std::string &basis, bool isolated)
{
    m_job.cancel();
    const std::uint64_t revision = m_controller->snapshot()->revision;
    m_state.compared = m_state.isolated = revision;
    show(std::move(outcome), basis, revision, isolated);
    restart();
}

walks::CompareOptions LiveJobs::compareOptions(const walks::ExampleOptions &examples) const
{
    walks::CompareOptions options;
    options.examples = examples;
    options.backend = walks::kernelBackendFor(m_settings.backend);
    options.threads = m_settings.threads;
    options.settings.memoryLimit = m_settings.memoryLimit;
    options.eachAlone = true;
    return options;
}

session::LatencyOptions LiveJobs::latencyOptions() const
{
    session::LatencyOptions options;
    options.examples = m_data;
    options.backend = backends::planningBackendFor(m_settings.backend);
    options.threads = m_settings.threads;
    options.settings.repeats = m_settings.repeats;
    options.settings.attempts = kAttempts;
    return options;
}

walks::CalibrateOptions LiveJobs::calibrateOptions() const
{
    walks::CalibrateOptions options;
    options.examples = *m_data;
    options.backend = walks::kernelBackendFor(m_settings.backend);
    options.threads = m_settings.threads;
    options.memoryLimit = m_settings.memoryLimit;
    options.weighsOutputs = true;
    // As a conversion would choose, so that nothing has to be searched for again.
    options.threshold.codes = calibration::CodeType::Auto;
    options.threshold.method
        = m_controller->document()->policy().thresholdMethod.value_or(policy::kDefaultThresholdMethod);
    return options;
}

} // namespace halftone::app
