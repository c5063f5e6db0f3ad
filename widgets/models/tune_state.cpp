#include "widgets/models/tune_state.h"

#include "core/tune/model_oracle.h"
#include "widgets/common/formatters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::widgets {
namespace {

double worstSqnr(const jobs::CompareOutcome &outcome)
{
    double worst = std::numeric_limits<double>::infinity();
    for (const profile::OutputErrors &output : outcome.comparison.outputs)
        worst = std::isnan(output.figures.sqnrDb) ? output.figures.sqnrDb
                                                  : std::min(worst, output.figures.sqnrDb);
    return worst;
}

TunePlace placeOf(const tune::Point &point)
{
    TunePlace place;
    place.isMeasured = point.measured.has_value();
    place.isOwn = point.origin == tune::Origin::Hand;
    place.milliseconds = place.isMeasured ? point.measured->milliseconds : point.predicted.milliseconds;
    place.sqnrDb = place.isMeasured ? point.measured->sqnrDb : point.predicted.sqnrDb;
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
    for (std::size_t k = 0; m_front && k < m_front->points.size(); ++k) {
        TunePlace place = placeOf(m_front->points[k]);
        place.point = k;
        place.policy = tune::policyFor(*m_base, m_controller->snapshot()->graph(), m_front->groups,
                                       m_front->points[k].labels);
        places.push_back(std::move(place));
    }
    for (const std::size_t k : m_front ? m_front->best() : std::vector<std::size_t>())
        places[k].isOffered = true;
    places.insert(places.end(), m_own.begin(), m_own.end());
    const auto moved = [&](std::optional<std::size_t> &index) {
        if (!index || *index >= m_places.size())
            return;
        const policy::Policy policy = m_places[*index].policy;
        const auto isSame = [&](const TunePlace &one) { return one.policy == policy; };
        const auto at = std::ranges::find_if(places, isSame);
        index = at == places.end() ? std::nullopt
                                   : std::optional(static_cast<std::size_t>(at - places.begin()));
    };
    moved(m_selected);
    moved(m_other);
    m_hovered.reset();
    m_places = std::move(places);
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
    const profile::Versus &versus = figures.latency->versus;
    TunePlace place;
    place.isMeasured = place.isOwn = true;
    place.milliseconds = figures.latency->mixed.medianMs;
    const double wide = versus.ratio > 0 ? place.milliseconds / versus.ratio : 0;
    place.ci95 = {wide * versus.ci95[0], wide * versus.ci95[1]};
    place.sqnrDb = worstSqnr(*figures.comparison);
    place.policy = *snapshot->policy;
    const auto isSame = [&](const TunePlace &one) { return one.policy == place.policy; };
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
    return !m_isRunning && m_front
        && (m_front->stoppedBy == tune::StoppedBy::Cancelled || m_front->stoppedBy == tune::StoppedBy::Time);
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
    return m_front ? tune::pick(*m_front, tune::Pick::FastestWithin, m_limit) : std::nullopt;
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
