#pragma once

#include "app/live_jobs.h"
#include "core/tune/model_oracle.h"
#include "core/tune/recording.h"
#include "widgets/models/tune_state.h"

#include <QTimer>

namespace halftone::app {

/// Runs the search that a TuneState asks for, and tells it what is found while it runs. A search that was stopped goes on where it was, as
/// long as model, data, lists and settings are the same. What it measures and the figures that answer an edit take turns on the machine,
/// so that edits can be made meanwhile; it searches on what the lists were when it began.
class TuneJob : public QObject
{
    Q_OBJECT

public:
    TuneJob(widgets::DocumentController *controller, LiveJobs *jobs, widgets::TuneState *state,
            QObject *parent);
    ~TuneJob() override;

    void start();
    void measureAgain(); ///< the last search once more, and what is not to be trusted is measured anew
    void stop(); ///< what was found stays
    /// What start() would search. Needs: a document with data
    tune::TuneTask task() const;
    /// Goes on from what others have found of task(): where nothing is left to measure, its front is there at once.
    void takeUp(tune::Record record);

Q_SIGNALS:
    void failed(const QString &why);

private:
    struct Shared; // what the searching thread tells

    void forget();
    void refresh();
    void poll();
    void finish(Result<tune::Front> front);

    widgets::DocumentController *m_controller;
    LiveJobs *m_jobs;
    widgets::TuneState *m_state;
    std::shared_ptr<Shared> m_shared;
    std::shared_ptr<const policy::Policy> m_base;
    QTimer m_poll;
    widgets::LatestJob m_job; ///< last: ends first
};

} // namespace halftone::app
