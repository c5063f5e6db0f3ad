#include "app/bars/status_line.h"

#include "app/live_jobs.h"
#include "widgets/common/elided_label.h"

#include <QAction>
#include <QLabel>
#include <QProgressBar>
#include <QStatusBar>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace halftone::app {
namespace {

constexpr int kWhileMs = 6000;
constexpr int kSoonMs = 200;

QString timeLeft(double seconds)
{
    if (seconds < 0)
        return {};
    if (seconds < 0.5)
        return QObject::tr(", finishing");
    const int whole = static_cast<int>(std::lround(seconds));
    return whole < 60 ? QObject::tr(", %1 s left").arg(whole)
                      : QObject::tr(", %1 min left").arg((whole + 30) / 60);
}

/// Of what is not over: once all steps are done, how long the rest takes is not known, and a full bar would say that it is over.
int percentOf(double share)
{
    return share < 1 ? static_cast<int>(share * 100) : -1;
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
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, [this] {
        m_converting.isOn = true;
        refresh();
    });
    connect(jobs, &LiveJobs::busyChanged, this, [this, jobs] {
        m_jobs = {jobs->isBusy(), {}, 0};
        refresh();
    });
    connect(jobs, &LiveJobs::progressed, this, [this](double share, const QString &what, double seconds) {
        m_jobs.what = what + timeLeft(seconds);
        m_jobs.percent = percentOf(share);
        refresh();
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
    m_opening = {isOpening, tr("Opening…"), -1};
    refresh();
}

void StatusLine::showConverting(bool isConverting, bool atOnce)
{
    m_soon.stop();
    m_converting = {isConverting && atOnce, tr("converting"), 0};
    if (isConverting && !atOnce)
        m_soon.start();
    refresh();
}

void StatusLine::showConversion(double share, const QString &what)
{
    m_converting.what = what;
    m_converting.percent = percentOf(share);
    refresh();
}

void StatusLine::showForAWhile(const QString &text)
{
    m_bar->showMessage(text, kWhileMs);
}

/// One at a time: each waits for the one before it.
void StatusLine::refresh()
{
    const Stage &stage = m_opening.isOn ? m_opening : m_converting.isOn ? m_converting : m_jobs;
    m_what->setText(stage.what);
    m_progress->setRange(0, stage.percent < 0 ? 0 : 100);
    m_progress->setValue(std::max(stage.percent, 0));
    for (QWidget *widget : std::initializer_list<QWidget *>{m_what, m_progress, m_stop})
        widget->setVisible(stage.isOn);
}

} // namespace halftone::app
