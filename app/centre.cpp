#include "app/centre.h"

#include "app/first_steps.h"
#include "app/live_jobs.h"
#include "app/start_page.h"
#include "widgets/common/document_controller.h"
#include "widgets/graphview/graph_view.h"

#include <QStackedWidget>
#include <QVBoxLayout>

namespace halftone::app {

Centre::Centre(widgets::DocumentController *controller, LiveJobs *jobs, Steps steps, QWidget *parent)
    : QWidget(parent)
    , m_controller(controller)
    , m_jobs(jobs)
    , m_recovery(new RecoveryBar(this))
    , m_notice(new NoticeBar(this))
    , m_source(new NoticeBar(this))
    , m_suggestion(new SuggestionBar(controller, this))
    , m_pages(new QStackedWidget(this))
    , m_start(new StartPage(m_pages))
    , m_graph(new widgets::GraphView(controller, m_pages))
{
    m_notice->setObjectName(QStringLiteral("notice"));
    m_source->setObjectName(QStringLiteral("source"));
    m_pages->addWidget(m_start);
    m_pages->addWidget(m_graph);
    auto *const layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_recovery);
    layout->addWidget(m_source);
    layout->addWidget(m_notice);
    layout->addWidget(m_suggestion);
    if (steps == Steps::Offered) {
        addFirstSteps();
        layout->addWidget(m_firstSteps);
    }
    layout->addWidget(m_pages, 1);
    connectBars();
    connectSuggestion();
}

void Centre::addFirstSteps()
{
    m_firstSteps = new FirstSteps(this);
    connect(m_firstSteps, &FirstSteps::attachWanted, this, &Centre::attachWanted);
    connect(m_firstSteps, &FirstSteps::drawWanted, this, &Centre::drawWanted);
    connect(m_firstSteps, &FirstSteps::latencyWanted, this, &Centre::latencyWanted);
    const auto showDone
        = [this] { m_firstSteps->showDone(m_jobs->data().has_value(), m_jobs->isLatencyWanted()); };
    connect(m_jobs, &LiveJobs::dataChanged, m_firstSteps, showDone);
    connect(m_jobs, &LiveJobs::busyChanged, m_firstSteps, showDone);
    connect(m_jobs, &LiveJobs::latencyWantedChanged, m_firstSteps, showDone);
}

/// Once something was pressed the keys are the graph's again: what came to lie under the focus must not get them.
void Centre::connectBars()
{
    for (const NoticeBar *bar :
         {static_cast<NoticeBar *>(m_recovery), m_source, m_notice, static_cast<NoticeBar *>(m_suggestion)}) {
        connect(bar, &NoticeBar::actionTriggered, this, &Centre::giveFocusBack);
        connect(bar, &NoticeBar::otherTriggered, this, &Centre::giveFocusBack);
        connect(bar, &NoticeBar::dismissed, this, &Centre::giveFocusBack);
    }
}

void Centre::connectSuggestion()
{
    connect(m_suggestion, &SuggestionBar::proposed, m_jobs,
            [this] { m_jobs->setProposal(m_suggestion->suggestion()->edit); });
    connect(m_suggestion, &SuggestionBar::withdrawn, m_jobs, [this] { m_jobs->setProposal(std::nullopt); });
    connect(m_jobs, &LiveJobs::proposalCompared, m_suggestion, &SuggestionBar::showGain);
}

void Centre::giveFocusBack()
{
    if (m_controller->isOpen())
        m_graph->setFocus(Qt::OtherFocusReason);
}

void Centre::showDocument(bool isOpen)
{
    m_notice->hide();
    m_source->hide();
    m_recovery->hide();
    m_suggestion->forget();
    m_pages->setCurrentWidget(isOpen ? static_cast<QWidget *>(m_graph) : m_start);
}

void Centre::offerSteps(bool isOpen)
{
    if (m_firstSteps && isOpen)
        m_firstSteps->offer();
    else if (m_firstSteps)
        m_firstSteps->withdraw();
}

} // namespace halftone::app
