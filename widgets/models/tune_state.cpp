#include "widgets/models/tune_state.h"

#include "core/hardware/catalogue.h"
#include "core/mixed/chip_warnings.h"
#include "core/policy/policy_json.h"
#include "core/tune/adopt.h"
#include "widgets/common/formatters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::widgets {
namespace {

double worstSqnr(const walks::CompareOutcome &outcome)
{
    double worst = std::numeric_limits<double>::infinity();
    for (const compare::OutputErrors &output : outcome.comparison.outputs)
        worst = std::isnan(output.figures.sqnrDb) ? output.figures.sqnrDb
                                                  : std::min(worst, output.figures.sqnrDb);
    return worst;
}

std::optional<double> changeOf(const std::optional<double> &top1, const std::optional<double> &reference,
                               const std::optional<double> &agreement)
{
    if (top1 && reference)
        return 100 * (*top1 - *reference);
    return agreement ? std::optional(100 * (*agreement - 1)) : std::nullopt;
}

std::optional<double> changeOf(const walks::CompareOutcome &outcome)
{
    const auto top1Of = [](const auto &accuracy) {
        return accuracy ? std::optional<double>(accuracy->top1) : std::nullopt;
    };
    const auto &outputs = outcome.comparison.outputs;
    return changeOf(top1Of(outcome.other), top1Of(outcome.reference),
                    outputs.empty() ? std::nullopt : top1Of(outputs[0].agreement));
}

/// From the sums of layers to the times of whole networks, which are both known of float32 and perhaps of the lowest point.
class TimeScale
{
public:
    explicit TimeScale(const tune::Front &front)
    {
        const auto find = [&front](tune::Origin origin) {
            const auto found = std::ranges::find(front.points, origin, &tune::Point::origin);
            return found != front.points.end() && found->measured ? &*found : nullptr;
        };
        const tune::Point *const wide = find(tune::Origin::Float32);
        if (!wide || !(wide->predicted.milliseconds > 0))
            return;
        m_predicted = wide->predicted.milliseconds;
        m_measured = wide->measured->milliseconds;
        m_slope = m_measured / m_predicted;
        const tune::Point *const lowest = find(tune::Origin::Lowest);
        if (!lowest || !tune::isTimeKnown(*lowest->measured))
            return;
        const double predicted = m_predicted - lowest->predicted.milliseconds;
        const double measured = m_measured - lowest->measured->milliseconds;
        if (predicted > kLeastShare * m_predicted && measured > 0)
            m_slope = measured / predicted;
    }
    double measuredFor(double predicted) const
    {
        return std::max(0.0, m_measured + m_slope * (predicted - m_predicted));
    }

private:
    static constexpr double kLeastShare = 0.01; ///< of less between two points no slope can be told

    double m_predicted = 0;
    double m_measured = 0;
    double m_slope = 1;
};

TunePlace placeOf(const tune::Point &point, const TimeScale &scale)
{
    TunePlace place;
    place.isMeasured = point.measured.has_value();
    place.isOwn = point.origin == tune::Origin::Hand;
    place.milliseconds
        = place.isMeasured ? point.measured->milliseconds : scale.measuredFor(point.predicted.milliseconds);
    place.sqnrDb = place.isMeasured ? point.measured->sqnrDb : point.predicted.sqnrDb;
    if (place.isMeasured) {
        const tune::Measurement &measured = *point.measured;
        place.ratio = measured.ratio;
        place.isDisturbed = measured.isDisturbed;
        place.isTimeKnown = tune::isTimeKnown(measured);
        place.top1Change = changeOf(measured.top1, measured.top1Reference, measured.top1Agreement);
    }
    place.ci95 = place.isMeasured ? point.measured->ci95 : std::array{place.milliseconds, place.milliseconds};
    return place;
}

} // namespace

TuneState::TuneState(DocumentController *controller, QObject *parent)
    : QObject(parent)
    , m_controller(controller)
{
    connect(controller, &DocumentController::documentChanged, this, &TuneState::clear);
    connect(controller, &DocumentController::figuresChanged, this, &TuneState::takeOwn);
}

void TuneState::setFront(std::shared_ptr<const tune::Front> front, std::shared_ptr<const policy::Policy> base)
{
    m_front = std::move(front);
    m_base = std::move(base);
    gather();
}

void TuneState::clear()
{
    hover(std::nullopt);
    m_front.reset();
    m_base.reset();
    m_estimates.clear();
    m_own.clear();
    m_selected.reset();
    m_other.reset();
    m_progress.clear();
    gather();
    Q_EMIT selectionChanged();
}

/// Points keep their places while the search goes on, so that what is selected stays.
void TuneState::gather()
{
    std::vector<TunePlace> places;
    const TimeScale scale(m_front ? *m_front : tune::Front());
    for (std::size_t k = 0; m_front && k < m_front->points.size(); ++k) {
        TunePlace place = placeOf(m_front->points[k], scale);
        place.point = k;
        place.policy = tune::adoptedPolicy(*m_front, *m_base, m_controller->snapshot()->graph(),
                                           m_front->points[k].labels);
        places.push_back(std::move(place));
    }
    for (const std::size_t k : m_front ? m_front->bestOfKnown() : std::vector<std::size_t>())
        places[k].isOffered = true;
    places.insert(places.end(), m_own.begin(), m_own.end());
    const auto moved = [&](std::optional<std::size_t> &index) {
        if (!index || *index >= m_places.size())
            return;
        const policy::Policy policy = m_places[*index].policy;
        const auto isSame = [&](const TunePlace &one) { return tune::areSame(one.policy, policy); };
        const auto at = std::ranges::find_if(places, isSame);
        index = at == places.end() ? std::nullopt
                                   : std::optional(static_cast<std::size_t>(at - places.begin()));
    };
    moved(m_selected);
    moved(m_other);
    const bool wasHovered = m_hovered.has_value();
    moved(m_hovered);
    m_places = std::move(places);
    if (wasHovered && !m_hovered) // what is previewed is no longer there
        Q_EMIT previewChanged(nullptr);
    Q_EMIT changed();
}

/// What the window has measured and compared of one state of the lists.
void TuneState::takeOwn()
{
    const session::Figures &figures = m_controller->figures();
    const auto &snapshot = m_controller->snapshot();
    const bool isWhole = figures.latency && figures.latency->native && figures.comparison
        && figures.comparison->isWhole && figures.latencyRevision == figures.comparisonRevision;
    if (!snapshot || !isWhole || figures.latencyRevision != snapshot->revision)
        return;
    latency::Versus versus = figures.latency->versus;
    TunePlace place;
    place.isMeasured = place.isOwn = true;
    place.isDisturbed = versus.isDisturbed;
    // In turns with float32, as the search's are, so that hand and search stand on one scale.
    const tune::Point *const reference
        = m_front && !m_front->points.empty() && m_front->points[0].measured ? &m_front->points[0] : nullptr;
    const auto &fp32 = figures.latency->fp32.deviceMs;
    const auto &mixed = figures.latency->mixed.deviceMs;
    if (reference && reference->measured->byDevice && fp32 && mixed && *fp32 > 0) { // by the search's clock
        versus.ratio = *mixed / *fp32;
        versus.ci95 = {versus.ratio * (1 - latency::kPlacement), versus.ratio * (1 + latency::kPlacement)};
    }
    const double wide = reference ? reference->measured->milliseconds : versus.medianMs;
    place.ratio = versus.ratio;
    place.milliseconds = wide * versus.ratio;
    place.ci95 = {wide * versus.ci95[0], wide * versus.ci95[1]};
    place.top1Change = changeOf(*figures.comparison);
    place.sqnrDb = worstSqnr(*figures.comparison);
    place.policy = *snapshot->policy;
    const auto isSame = [&](const TunePlace &one) { return tune::areSame(one.policy, place.policy); };
    const auto at = std::ranges::find_if(m_own, isSame);
    if (at == m_own.end())
        m_own.push_back(place);
    else
        *at = place;
    gather();
}

void TuneState::setRunning(bool isRunning)
{
    m_isRunning = isRunning;
    Q_EMIT changed();
}

bool TuneState::canContinue() const
{
    return !m_isRunning && m_front && m_controller->snapshot()
        && tune::withoutAdopted(*m_controller->snapshot()->policy) == *m_base
        && (m_front->stoppedBy == tune::StoppedBy::Cancelled || m_front->stoppedBy == tune::StoppedBy::Time);
}

bool TuneState::canMeasureAgain() const
{
    return !m_isRunning && m_whyNot.isEmpty() && m_front && m_front->isUnreliable();
}

void TuneState::setProgress(const QString &text)
{
    m_progress = text;
    Q_EMIT changed();
}

void TuneState::setWhyNot(const QString &why)
{
    if (why == m_whyNot)
        return;
    m_whyNot = why;
    Q_EMIT changed();
}

void TuneState::setLimit(const std::optional<tune::Limit> &limit)
{
    m_limit = limit;
    Q_EMIT changed();
}

void TuneState::setTime(TuneTime time)
{
    m_time = time;
    Q_EMIT changed();
}

void TuneState::setLoss(TuneLoss loss)
{
    m_loss = loss;
    Q_EMIT changed();
}

std::shared_ptr<const hardware::Description> TuneState::described() const
{
    if (!m_controller->snapshot())
        return nullptr;
    const std::string &name = m_controller->snapshot()->policy->hardware;
    if (name.empty())
        return hardware::thisMachine();
    auto found = hardware::findDescription(name);
    return found.ok() ? std::move(found).value() : nullptr;
}

QString TuneState::chip() const
{
    const auto chip = described();
    return chip ? plain(chip->name) : QString();
}

bool TuneState::hasBandwidth() const
{
    const auto chip = described();
    return chip && chip->bandwidth;
}

const TuneEstimate *TuneState::estimateOf(std::size_t place) const
{
    const auto &snapshot = m_controller->snapshot();
    const auto chip = described();
    if (!snapshot || !snapshot->shapes || !chip || place >= m_places.size())
        return nullptr;
    policy::Policy policy = m_places[place].policy;
    policy.reasons.clear(); // they change while a search goes on, and decide nothing
    const auto [found, isNew]
        = m_estimates.try_emplace(chip->name + '\n' + policy::writePolicy(policy), std::nullopt);
    if (isNew) {
        const auto after
            = session::Document::afterEdit(*snapshot, policy::ReplacePolicy{std::move(policy), {}});
        if (after.ok() && after.value()->converted && !after.value()->error) {
            const mixed::ChipGain gain
                = mixed::gainOn(*chip, snapshot->graph(), *after.value()->converted, *snapshot->shapes);
            const double bytes = gain.after + gain.casts;
            const double cost = chip->bandwidth ? bytes / *chip->bandwidth / 1e6 // GB a second
                                                : bytes / std::max(gain.before, 1.0);
            found->second = TuneEstimate{cost, after.value()->castCount()};
        }
    }
    return found->second ? &*found->second : nullptr;
}

bool TuneState::hasTop1() const
{
    return std::ranges::any_of(m_places, [](const TunePlace &place) { return place.top1Change.has_value(); });
}

void TuneState::hover(std::optional<std::size_t> place)
{
    if (place == m_hovered)
        return;
    m_hovered = place;
    std::shared_ptr<const session::Snapshot> preview;
    if (place && m_controller->snapshot()) {
        const policy::ReplacePolicy edit{m_places[*place].policy, {}};
        const auto after = session::Document::afterEdit(*m_controller->snapshot(), edit);
        if (after.ok())
            preview = after.value();
    }
    Q_EMIT previewChanged(preview);
}

void TuneState::select(std::optional<std::size_t> place)
{
    if (place == m_selected)
        return;
    m_other = place ? m_selected : std::nullopt;
    m_selected = place;
    Q_EMIT selectionChanged();
}

std::optional<std::size_t> TuneState::fastestWithin() const
{
    std::optional<std::size_t> fastest;
    for (std::size_t k = 0; k < m_places.size(); ++k) {
        const TunePlace &place = m_places[k];
        if (!place.isOffered || (m_limit && !m_limit->holdsFor(*m_front->points[*place.point].measured)))
            continue;
        if (!fastest || place.milliseconds < m_places[*fastest].milliseconds)
            fastest = k;
    }
    return fastest;
}

void TuneState::adopt(std::size_t place)
{
    hover(std::nullopt);
    const TunePlace &one = m_places[place];
    m_controller->apply(policy::ReplacePolicy{one.policy, "Adopt " + nameOf(one).toStdString()});
}

void TuneState::pin(std::size_t group)
{
    policy::OverrideNodes edit{{}, tensor::DType::F32};
    for (const graph::NodeId id : m_front->groups[group].decided)
        edit.nodes.push_back(m_controller->snapshot()->graph().node(id).name);
    if (!edit.nodes.empty())
        m_controller->apply(edit);
}

QString TuneState::nameOf(const TunePlace &place)
{
    const QString error = std::isinf(place.sqnrDb) ? tr("no error") : decibels(place.sqnrDb) + tr(" dB");
    return tr("%1 ms at %2").arg(QString::number(place.milliseconds, 'f', 3), error);
}

} // namespace halftone::widgets
