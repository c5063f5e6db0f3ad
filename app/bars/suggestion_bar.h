#pragma once

#include "app/bars/notice_bar.h"
#include "app/suggestion.h"
#include "app/summary.h"
#include "widgets/common/edit_effects.h"

#include <optional>

namespace halftone::app {

/// Says what the figures say should be mended and what that costs, mends it on request, and then tells what it did and
/// offers to take it back.
class SuggestionBar : public NoticeBar
{
    Q_OBJECT

public:
    explicit SuggestionBar(widgets::DocumentController *controller, QWidget *parent = nullptr);

    /// Nothing while the bar tells of one that was taken.
    const std::optional<Suggestion> &suggestion() const { return m_suggestion; }
    void forget(); ///< another document is shown
    void refresh(); ///< lists or figures have changed
    void showGain(const walks::CompareOutcome &after); ///< of the suggestion that was proposed last

Q_SIGNALS:
    void proposed(); ///< what suggestion() would lead to is to be compared
    void withdrawn(); ///< no more

private:
    /// One that was taken, as long as nothing else is edited.
    struct Taken
    {
        QString action;
        std::uint64_t revision = 0; ///< that it made
        std::optional<Score> score; ///< before
        std::size_t casts = 0; ///< before
    };

    void take();
    bool stillHolds() const;
    bool isAwaited() const; ///< a comparison of what is shown is on its way
    QString effectText(const session::EditEffect &effect) const;
    struct Told
    {
        QString text;
        QString figures;
    };
    Told resultOf(const Taken &taken) const;
    void showSuggestion();
    void propose();
    void withdraw();

    widgets::DocumentController *m_controller;
    widgets::EditEffects m_effects;
    std::optional<Suggestion> m_suggestion;
    std::optional<session::EditEffect> m_effect; ///< of it, once known
    std::optional<Taken> m_taken;
    std::optional<std::uint64_t> m_proposedFor; ///< revision
    std::optional<Score> m_gain; ///< the score that the suggestion would lead to
    std::optional<QString> m_dismissed; ///< the text that was closed, so that it does not come again
};

} // namespace halftone::app
