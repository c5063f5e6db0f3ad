#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

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
    /// atOnce  else where it takes more than a moment
    void showConverting(bool isConverting, bool atOnce);
    void showConversion(double share, const QString &what); ///< share in [0, 1]
    void showForAWhile(const QString &text); ///< over the summary

private:
    /// How far something has come.
    struct Stage
    {
        bool isOn = false;
        QString what;
        int percent = 0; ///< negative: not known
    };

    void refresh();

    QStatusBar *m_bar;
    widgets::ElidedLabel *m_summary;
    QLabel *m_what;
    QProgressBar *m_progress;
    QToolButton *m_stop;
    QTimer m_soon; ///< until a conversion is worth being shown
    Stage m_opening;
    Stage m_converting;
    Stage m_jobs;
};

} // namespace halftone::app
