#pragma once

#include <QObject>

class QAction;
class QLabel;
class QProgressBar;
class QStatusBar;
class QToolButton;

namespace halftone::widgets {
class ElidedLabel;
}

namespace halftone::app {

class LiveJobs;

/// What stands in the status bar: a summary, and how far the work beside the window has come.
class StatusLine : public QObject
{
    Q_OBJECT

public:
    StatusLine(QStatusBar *bar, LiveJobs *jobs, QAction *stop);

    /// warning  the end of the text that is one
    void showSummary(const QString &text, const QString &warning);
    void showOpening(bool isOpening);
    void showForAWhile(const QString &text); ///< over the summary

private:
    void showBusy(bool isBusy);

    QStatusBar *m_bar;
    widgets::ElidedLabel *m_summary;
    QLabel *m_what;
    QProgressBar *m_progress;
    QToolButton *m_stop;
};

} // namespace halftone::app
