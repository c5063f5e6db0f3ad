#pragma once

#include "app/bars/recovery_bar.h"
#include "app/bars/suggestion_bar.h"

#include <QWidget>

class QStackedWidget;

namespace halftone::widgets {
class GraphView;
} // namespace halftone::widgets

namespace halftone::app {

class FirstSteps;
class LiveJobs;
class StartPage;

/// The middle of the window: the graph, or the start page while nothing is open, and above it the bars that tell what is to be known.
class Centre : public QWidget
{
    Q_OBJECT

public:
    enum class Steps
    {
        Offered, ///< the first ones, to a person
        Left ///< out, as in pictures of the window
    };

    Centre(widgets::DocumentController *controller, LiveJobs *jobs, Steps steps, QWidget *parent);

    widgets::GraphView *graph() const { return m_graph; }
    StartPage *start() const { return m_start; }
    NoticeBar *notice() const { return m_notice; }
    NoticeBar *source() const { return m_source; } ///< of the model's file
    RecoveryBar *recovery() const { return m_recovery; }
    SuggestionBar *suggestion() const { return m_suggestion; }

    /// Another document is shown, or none any more: what was said of the one before is over.
    void showDocument(bool isOpen);
    /// The first steps, once what lies around has taken its room.
    void offerSteps(bool isOpen);

Q_SIGNALS:
    /// Of the first steps, but for those that are taken by hand.
    void attachWanted();
    void drawWanted();
    void latencyWanted();

private:
    void connectBars();
    void connectSuggestion();
    void addFirstSteps();
    void giveFocusBack();

    widgets::DocumentController *m_controller;
    LiveJobs *m_jobs;
    RecoveryBar *m_recovery;
    NoticeBar *m_notice;
    NoticeBar *m_source;
    SuggestionBar *m_suggestion;
    FirstSteps *m_firstSteps = nullptr; ///< null: left out
    QStackedWidget *m_pages;
    StartPage *m_start;
    widgets::GraphView *m_graph;
};

} // namespace halftone::app
