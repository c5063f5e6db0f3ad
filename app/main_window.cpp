#include "app/main_window.h"

#include "app/document_files.h"
#include "app/notice_bar.h"
#include "app/start_page.h"
#include "app/summary.h"
#include "widgets/calibration/calibration_panel.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/inspector/inspector_panel.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/plots/calibration_plot.h"
#include "widgets/plots/error_plot.h"
#include "widgets/plots/latency_plot.h"
#include "widgets/tables/layers_table.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QMessageBox>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTime>
#include <QToolButton>
#include <QVBoxLayout>

namespace halftone::app {
namespace {

using widgets::plain;

constexpr int kMostLogLines = 2000;

QString timeLeft(double seconds)
{
    if (seconds < 0)
        return {};
    const int whole = static_cast<int>(seconds + 0.5);
    return whole < 60 ? QObject::tr(", %1 s left").arg(whole)
                      : QObject::tr(", %1 min left").arg((whole + 30) / 60);
}

} // namespace

MainWindow::MainWindow(QWidget *parent)
    : QMainWindow(parent)
    , m_preferences(loadPreferences())
{
    setAcceptDrops(true);
    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
    m_jobs = new LiveJobs(&m_controller, this);
    m_jobs->setSettings(m_preferences.jobs);
    m_files = new DocumentFiles(&m_controller, m_jobs, this);
    m_files->viewState = [this] { return viewState(); };
    buildPanels();
    buildActions();
    buildToolBar();
    buildStatusBar();
    connectAll();
    resize(fontMetrics().averageCharWidth() * 200, fontMetrics().height() * 56);
    resetLayout();
    m_firstLayout = saveState(kLayoutVersion);
    restoreLayout();
    documentShown();
}

MainWindow::~MainWindow()
{
    // The panels listen to the controller, which is a member and goes before the child widgets would.
    disconnect(&m_controller, nullptr, nullptr, nullptr);
    delete takeCentralWidget();
    for (QDockWidget *dock : m_docks)
        delete dock;
}

void MainWindow::buildPanels()
{
    auto *const centre = new QWidget(this);
    auto *const layout = new QVBoxLayout(centre);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    m_noticeBar = new NoticeBar(centre);
    m_suggestionBar = new NoticeBar(centre);
    layout->addWidget(m_noticeBar);
    layout->addWidget(m_suggestionBar);
    m_pages = new QStackedWidget(centre);
    layout->addWidget(m_pages, 1);
    m_start = new StartPage(m_pages);
    m_pages->addWidget(m_start);
    m_graph = new widgets::GraphView(&m_controller, m_pages);
    m_pages->addWidget(m_graph);
    setCentralWidget(centre);

    // As wide as the names of most operators, and a figure with its name on one line: sizes that docks are given before the window has its own
    // are lost, least widths are not.
    m_lists = new widgets::OpListsPanel(&m_controller);
    m_lists->setMinimumWidth(44 * fontMetrics().averageCharWidth());
    m_inspector = new widgets::InspectorPanel(&m_controller);
    m_inspector->setMinimumWidth(38 * fontMetrics().averageCharWidth());
    m_layers = new widgets::LayersTable(&m_controller);
    m_errorPlot = new widgets::ErrorPlot(&m_controller);
    m_latencyPlot = new widgets::LatencyPlot(&m_controller);
    m_thresholds = new widgets::ThresholdEditor(&m_controller, this);
    m_calibration = new widgets::CalibrationPanel(&m_controller, m_thresholds,
                                                  new widgets::CalibrationPlot(&m_controller, m_thresholds));
    m_log = new QPlainTextEdit;
    m_log->setReadOnly(true);
    m_log->setMaximumBlockCount(kMostLogLines);
    m_log->setPlaceholderText(
        tr("Notes about the model, warnings about the lists and failures are kept here."));
    m_log->setAccessibleName(tr("Messages"));

    addDock(tr("Lists"), QStringLiteral("lists"), m_lists, Qt::LeftDockWidgetArea);
    addDock(tr("Inspector"), QStringLiteral("inspector"), m_inspector, Qt::RightDockWidgetArea);
    addDock(tr("Layers"), QStringLiteral("layers"), m_layers, Qt::BottomDockWidgetArea);
    addDock(tr("Error"), QStringLiteral("error"), m_errorPlot, Qt::BottomDockWidgetArea);
    addDock(tr("Latency"), QStringLiteral("latency"), m_latencyPlot, Qt::BottomDockWidgetArea);
    addDock(tr("Calibration"), QStringLiteral("calibration"), m_calibration, Qt::BottomDockWidgetArea);
    addDock(tr("Messages"), QStringLiteral("messages"), m_log, Qt::BottomDockWidgetArea);
}

void MainWindow::connectAll()
{
    using widgets::DocumentController;
    connect(&m_controller, &DocumentController::documentChanged, this, &MainWindow::documentShown);
    connect(&m_controller, &DocumentController::snapshotChanged, this, &MainWindow::snapshotShown);
    connect(&m_controller, &DocumentController::figuresChanged, this, [this] {
        updateSummary();
        updateSuggestion();
    });
    connect(&m_controller, &DocumentController::editRefused, this, [this](const QString &why) {
        m_noticeBar->showNotice(why);
        log(why);
    });

    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseFile);
    connect(m_start, &StartPage::sampleRequested, this, &MainWindow::openSample);
    connect(m_start, &StartPage::fileRequested, this, [this](const QString &path) { open(path); });
    connect(m_start, &StartPage::recoverRequested, this,
            [this](const QString &journal) { m_files->recover(journal); });

    connect(m_files, &DocumentFiles::opened, this, [this](const auto &state) {
        m_failure.clear();
        m_start->clearFailure();
        restoreViewState(state);
        for (const std::string &note : m_controller.document()->notes())
            log(plain(note));
        if (!m_policyWhenOpen.isEmpty())
            applyPolicyWhenOpen(std::exchange(m_policyWhenOpen, QString()));
        if (m_dataWhenOpen)
            m_jobs->setData(std::exchange(m_dataWhenOpen, std::nullopt));
    });
    connect(m_files, &DocumentFiles::openFailed, this, [this](const QString &path, const QString &why) {
        m_failure = why;
        log(tr("%1 did not open: %2").arg(path, why));
        if (m_controller.isOpen())
            m_noticeBar->showNotice(tr("%1 did not open: %2").arg(QFileInfo(path).fileName(), why));
        else
            m_start->showFailure(path, why);
    });
    connect(m_files, &DocumentFiles::openingChanged, this, [this] {
        m_progressText->setText(tr("Opening …"));
        m_progressText->setVisible(m_files->isOpening());
        m_progress->setRange(0, m_files->isOpening() ? 0 : 100); // how long it takes is not known
        m_progress->setVisible(m_files->isOpening());
    });
    connect(m_files, &DocumentFiles::modifiedChanged, this, &MainWindow::updateTitle);
    connect(m_files, &DocumentFiles::warned, this, [this](const QString &text) {
        m_noticeBar->showNotice(text);
        log(text);
    });

    connect(m_jobs, &LiveJobs::busyChanged, this, [this] {
        const bool busy = m_jobs->isBusy();
        m_cancel->setEnabled(busy);
        m_progress->setRange(0, 100);
        m_progress->setValue(0);
        for (QWidget *widget : {static_cast<QWidget *>(m_progressText), static_cast<QWidget *>(m_progress),
                                static_cast<QWidget *>(m_stop)})
            widget->setVisible(busy);
    });
    connect(m_jobs, &LiveJobs::progressed, this, [this](double share, const QString &what, double seconds) {
        m_progress->setValue(static_cast<int>(share * 100));
        m_progressText->setText(what + timeLeft(seconds));
    });
    connect(m_jobs, &LiveJobs::failed, this, [this](const QString &what) {
        m_noticeBar->showNotice(what);
        log(what);
    });
    connect(m_jobs, &LiveJobs::dataChanged, this, &MainWindow::updateActions);

    connect(m_suggestionBar, &NoticeBar::actionTriggered, this, [this] {
        if (m_suggestion)
            m_controller.apply(policy::Edit(m_suggestion->edit));
    });
    connect(m_suggestionBar, &NoticeBar::dismissed, this, [this] {
        if (m_suggestion)
            m_dismissed = plain(m_suggestion->text);
    });
    connect(m_graph, &widgets::GraphView::nodesMenuRequested, this, &MainWindow::showNodesMenu);
    connect(m_graph, &widgets::GraphView::counterpartShown, this,
            [this](const QString &what) { statusBar()->showMessage(what, kMessageMs); });
    connect(m_graph, &widgets::GraphView::settled, m_files, &DocumentFiles::noteView);
    connect(m_graph, &widgets::GraphView::colourByChanged, m_files, &DocumentFiles::noteView);
    connect(m_graph, &widgets::GraphView::sidesChanged, m_files, &DocumentFiles::noteView);
}

void MainWindow::open(const QString &path, const QString &params)
{
    if (maySetAside())
        m_files->open(path, params);
}

void MainWindow::openSample()
{
    if (maySetAside())
        m_files->openSample();
}

bool MainWindow::isSettled() const
{
    return !m_files->isOpening() && !m_controller.isDeriving() && !m_jobs->isBusy() && !m_graph->isBusy()
        && !m_thresholds->isChoosing() && !m_thresholds->isStudying();
}

bool MainWindow::showView(const QString &name)
{
    if (name == u"graph")
        return true;
    for (QDockWidget *dock : m_docks) {
        if (dock->objectName() != name)
            continue;
        if (m_docksShown) {
            dock->show();
            dock->raise();
        }
        return true;
    }
    return false;
}

void MainWindow::chooseSomething()
{
    const auto &snapshot = m_controller.snapshot();
    if (!snapshot || m_controller.selection().current())
        return;
    graph::NodeId node = m_suggestion ? m_suggestion->node : 0;
    while (!m_suggestion && node + 1 < snapshot->graph().nodeCount() && snapshot->graph().isVariable(node))
        ++node;
    m_controller.selection().set(node);
}

void MainWindow::documentShown()
{
    m_noticeBar->hide();
    m_suggestionBar->hide();
    m_suggestion.reset();
    m_dismissed.reset();
    m_pages->setCurrentWidget(m_controller.isOpen() ? static_cast<QWidget *>(m_graph) : m_start);
    setDocksShown(m_controller.isOpen());
    if (m_controller.isOpen())
        m_graph->setFocus(Qt::OtherFocusReason); // its keys walk and edit
    for (QAction *action : m_dockActions)
        action->setEnabled(m_controller.isOpen());
    if (!m_controller.isOpen())
        m_start->refresh();
    updateTitle();
    snapshotShown();
}

void MainWindow::snapshotShown()
{
    const auto &snapshot = m_controller.snapshot();
    if (snapshot && snapshot->error) {
        const QString why = plain(snapshot->error->message());
        m_noticeBar->showNotice(tr("These lists cannot be applied: %1").arg(why));
        log(why);
    }
    logWarnings();
    updateActions();
    updateSummary();
    updateSuggestion();
}

/// Those that the state before did not have: a warning that stays is told once, not after every edit.
void MainWindow::logWarnings()
{
    QStringList warnings;
    const auto &snapshot = m_controller.snapshot();
    if (snapshot && snapshot->converted) {
        for (const policy::Warning &warning : snapshot->converted->warnings)
            warnings << plain(warning.entry + ' ' + warning.text);
    }
    for (const QString &warning : std::as_const(warnings)) {
        if (!m_logged.contains(warning))
            log(warning);
    }
    m_logged = warnings;
}

void MainWindow::updateTitle()
{
    setWindowTitle(m_controller.isOpen() ? m_files->name() + QStringLiteral("[*] \u2013 Halftone")
                                         : QStringLiteral("Halftone[*]"));
    setWindowModified(m_files->isModified());
}

void MainWindow::updateSummary()
{
    const auto &snapshot = m_controller.snapshot();
    m_summary->setText(snapshot ? summaryOf(*snapshot, m_controller.figures()) : tr("No model is open."));
}

void MainWindow::updateSuggestion()
{
    const auto &snapshot = m_controller.snapshot();
    const session::Figures &figures = m_controller.figures();
    std::optional<Suggestion> next = snapshot ? suggestionFor(*snapshot, figures) : std::nullopt;
    // While newer figures are on their way, what still holds stays: a bar that comes and goes would move the graph with every edit.
    const bool isAwaited = snapshot && figures.comparison && figures.comparisonRevision != snapshot->revision;
    if (!next && isAwaited && m_suggestion && snapshot->converted
        && tensor::isHalf(snapshot->precisionOf(m_suggestion->node)))
        return;
    m_suggestion = std::move(next);
    if (m_suggestion && m_dismissed != plain(m_suggestion->text))
        m_suggestionBar->showNotice(plain(m_suggestion->text), plain(m_suggestion->action));
    else
        m_suggestionBar->hide();
}

void MainWindow::log(const QString &text)
{
    m_log->appendPlainText(QTime::currentTime().toString(QStringLiteral("HH:mm:ss  ")) + text);
}

bool MainWindow::maySetAside()
{
    if (!m_files->isModified())
        return true;
    QMessageBox box(QMessageBox::Question, QStringLiteral("Halftone"),
                    tr("Save the changes to %1?").arg(m_files->name()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setInformativeText(
        tr("The lists, the data and the view are kept in a session file; the model itself is unchanged."));
    box.setDefaultButton(QMessageBox::Save);
    switch (box.exec()) {
    case QMessageBox::Save:
        save();
        return !m_files->isModified();
    case QMessageBox::Discard:
        return true;
    default:
        return false;
    }
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    if (!maySetAside()) {
        event->ignore();
        return;
    }
    QSettings settings;
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
    settings.setValue(QStringLiteral("layout"), m_docksShown ? saveState(kLayoutVersion) : m_openLayout);
    m_jobs->cancel();
    m_files->close();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty() && urls.front().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent *event)
{
    const QString path = event->mimeData()->urls().value(0).toLocalFile();
    if (path.isEmpty())
        return;
    event->acceptProposedAction();
    if (path.endsWith(u".policy.json", Qt::CaseInsensitive) && m_controller.isOpen())
        applyPolicyWhenOpen(path);
    else if ((path.endsWith(u".npz", Qt::CaseInsensitive) || QFileInfo(path).isDir())
             && m_controller.isOpen()) {
        session::ExampleOptions examples;
        examples.inputs = path.toStdString();
        examples.examples = QFileInfo(path).isDir() ? m_preferences.pictures : 0;
        m_jobs->setData(examples);
    } else {
        open(path);
    }
}

} // namespace halftone::app
