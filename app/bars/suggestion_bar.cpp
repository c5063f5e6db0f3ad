#include "app/bars/suggestion_bar.h"

#include "widgets/common/document_controller.h"
#include "widgets/common/formatters.h"

namespace halftone::app {

using widgets::plain;

SuggestionBar::SuggestionBar(widgets::DocumentController *controller, QWidget *parent)
    : NoticeBar(parent)
    , m_controller(controller)
    , m_effects(controller)
{
    connect(this, &NoticeBar::actionTriggered, this, [this] {
        if (m_suggestion)
            take();
        else if (m_taken)
            m_controller->undo();
    });
    connect(this, &NoticeBar::dismissed, this, [this] {
        if (m_suggestion)
            m_dismissed = plain(m_suggestion->text);
        m_taken.reset();
    });
}

void SuggestionBar::forget()
{
    hide();
    withdraw();
    m_suggestion.reset();
    m_taken.reset();
    m_dismissed.reset();
}

bool SuggestionBar::isAwaited() const
{
    const auto &snapshot = m_controller->snapshot();
    const session::Figures &figures = m_controller->figures();
    return snapshot && figures.comparison && figures.comparisonRevision != snapshot->revision;
}

/// While newer figures are on their way, what still holds stays: a bar that comes and goes would move the graph with every
/// edit.
bool SuggestionBar::stillHolds() const
{
    const auto &snapshot = m_controller->snapshot();
    return m_suggestion && isAwaited() && snapshot->converted
        && snapshot->precisionOf(m_suggestion->node) == snapshot->target();
}

void SuggestionBar::take()
{
    const Suggestion suggestion = *std::exchange(m_suggestion, std::nullopt);
    const session::Figures &figures = m_controller->figures();
    Taken taken{plain(suggestion.action), 0, figures.comparison ? scoreOf(*figures.comparison) : std::nullopt,
                m_controller->snapshot()->castCount()};
    if (!m_controller->apply(suggestion.edit))
        return;
    taken.revision = m_controller->document()->revision();
    m_taken = std::move(taken);
    refresh();
}

/// "top-1 9.8 → 99.3 %, casts 10 → 12": gain and cost, the gain as soon as it is known.
QString SuggestionBar::effectText(const session::EditEffect &effect) const
{
    const QString casts = effect.castsAfter == effect.castsBefore
        ? tr("casts stay %1").arg(effect.castsBefore)
        : tr("casts %1 \u2192 %2").arg(effect.castsBefore).arg(effect.castsAfter);
    const session::Figures &figures = m_controller->figures();
    const auto now = figures.comparison ? scoreOf(*figures.comparison) : std::nullopt;
    if (!now || !m_gain)
        return casts;
    return tr("%1 %2 \u2192 %3\u202f%4, %5")
        .arg(now->name, now->converted, m_gain->converted, m_gain->unit, casts);
}

/// "Done: Keep sum in fp32" and "top-1 9.8 → 99.3 %, casts 4 → 6", as soon as that is known.
SuggestionBar::Told SuggestionBar::resultOf(const Taken &taken) const
{
    const session::Figures &figures = m_controller->figures();
    if (m_controller->snapshot()->revision != taken.revision)
        return {tr("Done: %1").arg(taken.action), {}};
    const QString casts
        = tr("casts %1 \u2192 %2").arg(taken.casts).arg(m_controller->snapshot()->castCount());
    const auto now = figures.comparison && !isAwaited() ? scoreOf(*figures.comparison) : std::nullopt;
    if (now && taken.score)
        return {tr("Done: %1").arg(taken.action),
                tr("%1 %2 \u2192 %3\u202f%4, %5")
                    .arg(now->name, taken.score->converted, now->converted, now->unit, casts)};
    return {tr("Done: %1").arg(taken.action), casts};
}

void SuggestionBar::showSuggestion()
{
    const QString action = plain(m_suggestion->action);
    const QString text = plain(m_suggestion->text);
    showNotice(m_effect ? tr("%1. %2: %3.").arg(text, action, effectText(*m_effect))
                        : tr("%1. %2.").arg(text, action),
               action);
    setOneLine(text, m_effect ? effectText(*m_effect) : QString());
}

void SuggestionBar::propose()
{
    m_proposedFor = m_controller->snapshot()->revision;
    m_gain.reset();
    m_effect.reset();
    m_effects.ask({m_suggestion->edit}, [this](const std::vector<session::EditEffect> &effects) {
        if (!m_suggestion)
            return;
        m_effect = effects.front();
        showSuggestion();
    });
    if (!m_effect)
        showSuggestion();
    Q_EMIT proposed();
}

void SuggestionBar::withdraw()
{
    m_effects.forget();
    m_gain.reset();
    if (std::exchange(m_proposedFor, std::nullopt))
        Q_EMIT withdrawn();
}

void SuggestionBar::showGain(const walks::CompareOutcome &after)
{
    if (!m_suggestion || m_proposedFor != m_controller->snapshot()->revision
        || !isVisibleTo(parentWidget())) // it was closed meanwhile
        return;
    m_gain = scoreOf(after);
    showSuggestion();
}

void SuggestionBar::refresh()
{
    const auto &snapshot = m_controller->snapshot();
    if (!snapshot || (m_taken && snapshot->revision > m_taken->revision))
        m_taken.reset();
    std::optional<Suggestion> next
        = snapshot ? suggestionFor(*snapshot, m_controller->figures()) : std::nullopt;
    if (!next && !m_taken && stillHolds())
        return;
    const bool isSame
        = next && m_suggestion && next->text == m_suggestion->text && isVisibleTo(parentWidget());
    m_suggestion = std::move(next);
    if (m_suggestion && m_dismissed != plain(m_suggestion->text)) {
        if (!isSame || m_proposedFor != snapshot->revision)
            propose();
        return;
    }
    withdraw();
    if (!m_taken) {
        hide();
        return;
    }
    const Told told = resultOf(*m_taken);
    showNotice(told.figures.isEmpty() ? tr("%1.").arg(told.text) : tr("%1. %2.").arg(told.text, told.figures),
               tr("Undo"), Kind::Information);
    setOneLine(told.text, told.figures);
}

} // namespace halftone::app
