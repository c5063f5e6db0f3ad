#include "app/bars/status_line.h"

#include "app/live_jobs.h"
#include "widgets/common/elided_label.h"

#include <QAction>
#include <QLabel>
#include <QProgressBar>
#include <QStatusBar>
#include <QToolButton>

namespace halftone::app {
namespace {

constexpr int kWhileMs = 6000;

QString timeLeft(double seconds)
{
    if (seconds < 0)
        return {};
    const int whole = static_cast<int>(seconds + 0.5);
    return whole < 60 ? QObject::tr(", %1 s left").arg(whole)
                      : QObject::tr(", %1 min left").arg((whole + 30) / 60);
}

} // namespace

StatusLine::StatusLine(QStatusBar *bar, LiveJobs *jobs, QAction *stop)
    : QObject(bar)
    , m_bar(bar)
    , m_summary(new widgets::ElidedLabel(bar))
    , m_what(new QLabel(bar))
    , m_progress(new QProgressBar(bar))
    , m_stop(new QToolButton(bar))
{
    m_summary->setAccessibleName(tr("Summary"));
    bar->addWidget(m_summary, 1);
    m_progress->setRange(0, 100);
    m_progress->setMaximumWidth(bar->fontMetrics().averageCharWidth() * 24);
    m_progress->setAccessibleName(tr("Progress"));
    m_stop->setAutoRaise(true);
    m_stop->setDefaultAction(stop);
    for (QWidget *widget : std::initializer_list<QWidget *>{m_what, m_progress, m_stop}) {
        bar->addPermanentWidget(widget);
        widget->hide();
    }
    connect(jobs, &LiveJobs::busyChanged, this, [this, jobs] { showBusy(jobs->isBusy()); });
    connect(jobs, &LiveJobs::progressed, this, [this](double share, const QString &what, double seconds) {
        m_progress->setValue(static_cast<int>(share * 100));
        m_what->setText(what + timeLeft(seconds));
    });
}

void StatusLine::showSummary(const QString &text, const QString &warning)
{
    m_summary->setText(text);
    m_summary->setWarnsFrom(warning.isEmpty() ? widgets::ElidedLabel::kNowhere
                                              : text.size() - warning.size());
}

void StatusLine::showOpening(bool isOpening)
{
    m_what->setText(tr("Opening…"));
    m_what->setVisible(isOpening);
    m_progress->setRange(0, isOpening ? 0 : 100); // how long it takes is not known
    m_progress->setVisible(isOpening);
}

void StatusLine::showForAWhile(const QString &text)
{
    m_bar->showMessage(text, kWhileMs);
}

void StatusLine::showBusy(bool isBusy)
{
    m_progress->setRange(0, 100);
    m_progress->setValue(0);
    for (QWidget *widget : std::initializer_list<QWidget *>{m_what, m_progress, m_stop})
        widget->setVisible(isBusy);
}

} // namespace halftone::app
