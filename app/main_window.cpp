#include "app/main_window.h"

#include "app/backend_comparison.h"
#include "app/bars/model_bar.h"
#include "app/bars/status_line.h"
#include "app/bookmarks_menu.h"
#include "app/centre.h"
#include "app/document_files.h"
#include "app/drawn_inputs.h"
#include "app/export_job.h"
#include "app/hosts/run_on_hosts.h"
#include "app/message_log.h"
#include "app/source_watch.h"
#include "app/start_page.h"
#include "app/summary.h"
#include "app/tune_job.h"
#include "widgets/calibration/calibration_panel.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"
#include "widgets/graphview/find_panel.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/models/threshold_editor.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/oplists/policy_commands.h"
#include "widgets/plots/latency_plot.h"
#include "widgets/tables/layers_table.h"

#include <QAbstractButton>
#include <QCloseEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QSettings>
#include <QUrl>

namespace halftone::app {

using widgets::plain;

namespace {

/// Also of a name that is no UTF-8, which QUrl::toLocalFile() does not give back.
QString pathOf(const QUrl &url)
{
    if (!url.isLocalFile())
        return {};
    const QByteArray bytes = QByteArray::fromPercentEncoding(url.path(QUrl::FullyEncoded).toLatin1());
    return widgets::pathText(bytes.toStdString());
}

} // namespace

MainWindow::MainWindow(QWidget *parent, For whom)
    : QMainWindow(parent)
    , m_whom(whom)
    , m_preferences(loadPreferences())
    , m_focusWalk(this, [this] { return m_controller.isOpen() ? m_graph->focusProxy() : nullptr; })
{
    setAcceptDrops(true);
    // Not animated: while Qt (before 6.5) restores a layout, an animation that ends changes the tab bars that it goes through.
    setDockOptions(AllowNestedDocks | AllowTabbedDocks);
    m_jobs = new LiveJobs(&m_controller, this);
    m_jobs->setSettings(m_preferences.jobs);
    m_files = new DocumentFiles(&m_controller, m_jobs, this);
    m_files->viewState = [this] { return viewTexts(); };
    buildCentre();
    m_thresholds = new widgets::ThresholdEditor(&m_controller, this);
    m_tune = new widgets::TuneState(&m_controller, this);
    m_export = new ExportJob(&m_controller, m_jobs, m_tune, this);
    auto *const tuning = new TuneJob(&m_controller, m_jobs, m_tune, this);
    connect(tuning, &TuneJob::failed, this, &MainWindow::showError);
    m_hosts = new RunOnHosts(&m_controller, m_jobs, m_tune, tuning, this);
    m_backends = new BackendComparison(&m_controller, m_jobs, this);
    m_source = new SourceWatch(this);
    connect(m_tune, &widgets::TuneState::previewChanged, m_graph, &widgets::GraphView::preview);
    m_docks = std::make_unique<PanelDocks>(this, PanelParts{&m_controller, m_thresholds, m_tune});
    m_lists = m_docks->panel<widgets::OpListsPanel>();
    m_log = m_docks->panel<MessageLog>();
    connect(m_lists->commands(), &widgets::PolicyCommands::noted, this, &MainWindow::log);
    m_lists->addKeysTo(m_graph);
    m_lists->addKeysTo(m_docks->panel<widgets::LayersTable>());
    buildMenus();
    buildBars();
    connectDocument();
    connectStartPage();
    connectFiles();
    connectGraph();
    connectBars();
    connectExport();
    connectSource();
    resize(fontMetrics().averageCharWidth() * 200, fontMetrics().height() * 56);
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
    m_docks->restoreLayout(settings.value(QStringLiteral("layout")).toByteArray(),
                           settings.value(QStringLiteral("drawingShown")).toBool());
    documentShown();
}

MainWindow::~MainWindow()
{
    // The panels listen to the controller, which is a member and goes before the child widgets would.
    disconnect(&m_controller, nullptr, nullptr, nullptr);
    delete takeCentralWidget();
}

void MainWindow::buildCentre()
{
    m_centre = new Centre(&m_controller, m_jobs,
                          m_whom == For::Person ? Centre::Steps::Offered : Centre::Steps::Left, this);
    m_graph = m_centre->graph();
    m_start = m_centre->start();
    setCentralWidget(m_centre);
}

void MainWindow::buildBars()
{
    m_modelBar = new ModelBar(&m_controller, m_jobs, {m_open, m_save, nullptr, m_undo, m_redo}, this);
    addToolBar(m_modelBar);
    connect(m_modelBar, &ModelBar::attachWanted, this, &MainWindow::attachData);
    connect(m_modelBar, &ModelBar::refused, this, &MainWindow::showError);
    connect(m_modelBar, &ModelBar::warned, m_centre->notice(),
            [this](const QString &what) { m_centre->notice()->showNotice(what); });
    m_statusLine = new StatusLine(statusBar(), m_jobs, m_stop);
}

void MainWindow::connectDocument()
{
    using widgets::DocumentController;
    connect(&m_controller, &DocumentController::documentChanged, this, &MainWindow::documentShown);
    connect(&m_controller, &DocumentController::snapshotChanged, this, &MainWindow::snapshotShown);
    connect(&m_controller, &DocumentController::figuresChanged, this, &MainWindow::figuresShown);
    connect(&m_controller, &DocumentController::editRefused, this, &MainWindow::showError);
    connect(&m_controller, &DocumentController::derivingChanged, this, [this] {
        const auto &snapshot = m_controller.snapshot();
        m_statusLine->showConverting(m_controller.isDeriving(), snapshot && snapshot->isAwaited());
    });
    connect(&m_controller, &DocumentController::derivingProgressed, m_statusLine,
            &StatusLine::showConversion);
    connect(m_jobs, &LiveJobs::failed, this, &MainWindow::showDataError);
    connect(m_jobs, &LiveJobs::lacksMemory, this, [this](const QString &what) {
        m_failureOfData = what;
        m_centre->notice()->showNotice(what, tr("Memory Limit…"));
        log(what);
    });
    connect(m_centre->notice(), &NoticeBar::actionTriggered, this, &MainWindow::showMemoryLimit);
    connect(m_jobs, &LiveJobs::noted, this, &MainWindow::log);
    connect(m_docks.get(), &PanelDocks::panelShown, this, &MainWindow::panelShown);
    connect(m_jobs, &LiveJobs::dataChanged, this, &MainWindow::updateActions);
    connect(m_jobs, &LiveJobs::dataChanged, m_centre->notice(), [this] {
        if (m_jobs->data() && m_centre->notice()->text() == m_failureOfData)
            m_centre->notice()->hide(); // why there were none is over
    });
    const auto canStop = [this] {
        m_stop->setEnabled(m_files->isOpening() || m_controller.isDeriving() || m_jobs->isBusy()
                           || m_tune->isRunning() || m_backends->isRunning());
    };
    connect(m_files, &DocumentFiles::openingChanged, this, canStop);
    connect(&m_controller, &DocumentController::derivingChanged, this, canStop);
    connect(m_jobs, &LiveJobs::busyChanged, this, canStop);
    connect(m_backends, &BackendComparison::runningChanged, this, canStop);
    connect(m_tune, &widgets::TuneState::changed, this, canStop);
}

void MainWindow::connectStartPage()
{
    connect(m_start, &StartPage::openRequested, this, &MainWindow::chooseFile);
    connect(m_start, &StartPage::sampleRequested, this, [this] { openSample(); });
    connect(m_start, &StartPage::fileRequested, this, [this](const QString &path) { open(path); });
    connect(m_start, &StartPage::recoverRequested, m_files, &DocumentFiles::recover);
}

void MainWindow::connectFiles()
{
    connect(m_files, &DocumentFiles::opened, this, &MainWindow::opened);
    connect(m_files, &DocumentFiles::openFailed, this, &MainWindow::openFailed);
    connect(m_files, &DocumentFiles::openingChanged, this,
            [this] { m_statusLine->showOpening(m_files->isOpening()); });
    connect(m_files, &DocumentFiles::modifiedChanged, this, &MainWindow::updateTitle);
    connect(m_files, &DocumentFiles::warned, this, &MainWindow::showError);
}

void MainWindow::connectGraph()
{
    using widgets::GraphView;
    connect(m_graph, &GraphView::nodesMenuRequested, this, &MainWindow::showNodesMenu);
    connect(m_docks->panel<widgets::LayersTable>(), &widgets::LayersTable::rowMenuMade, this,
            &MainWindow::addMoves);
    connect(m_graph, &GraphView::counterpartShown, m_statusLine, &StatusLine::showForAWhile);
    connect(m_graph, &GraphView::settled, m_files, &DocumentFiles::noteView);
    connect(m_graph, &GraphView::colourByChanged, m_files, &DocumentFiles::noteView);
    connect(m_graph, &GraphView::sidesChanged, m_files, &DocumentFiles::noteView);
    connect(m_bookmarks, &BookmarksMenu::changed, m_files, &DocumentFiles::noteView);
}

void MainWindow::connectBars()
{
    connect(m_centre->recovery(), &RecoveryBar::recoverRequested, this, [this](const QString &journal) {
        if (mayDiscardEdits())
            m_files->recover(journal);
    });
    connect(m_modelBar, &ModelBar::chosen, m_graph, [this] {
        if (m_controller.isOpen())
            m_graph->setFocus(Qt::OtherFocusReason);
    });
    connect(m_centre, &Centre::attachWanted, this, &MainWindow::attachData);
    connect(m_centre, &Centre::drawWanted, this, &MainWindow::drawInputs);
    connect(m_centre, &Centre::latencyWanted, this, [this] { m_modelBar->setWantsLatency(true); });
    connect(m_jobs, &LiveJobs::latencyWantedChanged, m_docks->panel<widgets::LatencyPlot>(),
            &widgets::LatencyPlot::setWanted);
    connect(m_jobs, &LiveJobs::latencyDeferred, m_docks->panel<widgets::LatencyPlot>(),
            &widgets::LatencyPlot::setDeferred);
}

void MainWindow::connectExport()
{
    connect(m_hosts, &RunOnHosts::taken, this, [this](const QString &what) {
        m_statusLine->showForAWhile(what);
        log(what);
    });
    connect(m_hosts, &RunOnHosts::failed, this, &MainWindow::showError);
    connect(m_backends, &BackendComparison::failed, this, &MainWindow::showError);
    connect(m_backends, &BackendComparison::finished, this, [this](const QString &what) {
        m_docks->bringToFront(QStringLiteral("layers"));
        m_statusLine->showForAWhile(what);
        log(what);
    });
    connect(m_export, &ExportJob::noted, this, &MainWindow::log);
    connect(m_export, &ExportJob::stopped, this,
            [this] { m_statusLine->showForAWhile(tr("Export stopped.")); });
    connect(m_export, &ExportJob::failed, this, [this](const QString &why) {
        m_centre->notice()->showNotice(tr("Could not export: %1").arg(why));
    });
    connect(m_export, &ExportJob::wrote, this, [this](const QStringList &paths) {
        QStringList names;
        for (const QString &path : paths) {
            names << widgets::shownName(path);
            log(tr("wrote %1").arg(widgets::shownPath(path)));
        }
        m_statusLine->showForAWhile(tr("Wrote %1").arg(names.join(QStringLiteral(", "))));
    });
}

void MainWindow::connectSource()
{
    NoticeBar *const bar = m_centre->source();
    connect(&m_controller, &widgets::DocumentController::documentChanged, m_source, [this] {
        m_source->watch(m_controller.isOpen() ? m_controller.document()->session().sharedSource() : nullptr);
    });
    connect(m_source, &SourceWatch::changed, this, &MainWindow::showSource);
    connect(bar, &NoticeBar::actionTriggered, m_files, &DocumentFiles::reloadModel);
    connect(bar, &NoticeBar::otherTriggered, m_source, &SourceWatch::keep);
    connect(bar, &NoticeBar::dismissed, m_source, &SourceWatch::keep);
}

void MainWindow::showSource()
{
    using Kind = session::SourceState::Kind;
    const session::SourceState &state = m_source->state();
    const QString file = widgets::shownName(widgets::pathText(state.file));
    m_hosts->setSourceDiffers(m_source->differs());
    if (state.kind == Kind::AsRead)
        return m_centre->source()->hide();
    if (state.kind == Kind::Changed) {
        m_centre->source()->showNotice(
            tr("%1 has changed on disk. The window still shows the version that was read.").arg(file),
            tr("Reload"));
        m_centre->source()->offerOther(tr("Keep Shown Version"));
        return log(tr("%1 has changed since it was read").arg(file));
    }
    m_jobs->loseSource();
    if (m_tune->isRunning())
        Q_EMIT m_tune->stopWanted();
    m_backends->stop();
    const QString what = tr("%1 was overwritten while it was open, so its data is lost: figures are "
                            "no longer shown. Reload the model.")
                             .arg(file);
    m_centre->source()->showNotice(what, tr("Reload"));
    log(what);
}

const SuggestionBar &MainWindow::suggestionBar() const
{
    return *m_centre->suggestion();
}

const RecoveryBar &MainWindow::recoveryBar() const
{
    return *m_centre->recovery();
}

widgets::CalibrationPanel &MainWindow::calibration()
{
    return *m_docks->panel<widgets::CalibrationPanel>();
}

void MainWindow::showError(const QString &what)
{
    m_centre->notice()->showNotice(what);
    log(what);
}

void MainWindow::showDataError(const QString &what)
{
    m_failureOfData = what;
    showError(what);
}

void MainWindow::log(const QString &text)
{
    m_log->add(text);
}

void MainWindow::open(const QString &path, const QString &params)
{
    if (mayDiscardEdits())
        m_files->open(path, params);
}

void MainWindow::openSample(const std::optional<Sample> &sample)
{
    if (mayDiscardEdits())
        m_files->openSample(sample);
}

void MainWindow::opened(const ViewTexts &texts)
{
    m_failure.clear();
    m_start->clearFailure();
    restoreView(viewStateOf(texts));
    if (m_whom == For::Person)
        m_centre->recovery()->offer(widgets::pathText(m_controller.snapshot()->source->modelPath));
    for (const std::string &note : m_controller.document()->notes())
        log(plain(note));
    if (!m_policyWhenOpen.isEmpty())
        applyPolicyWhenOpen(std::exchange(m_policyWhenOpen, QString()));
    if (m_dataWhenOpen)
        m_jobs->setData(std::exchange(m_dataWhenOpen, std::nullopt));
}

void MainWindow::openFailed(const QString &path, const QString &why)
{
    forgetWhenOpen();
    m_failure = why;
    log(tr("Could not open %1: %2").arg(widgets::shownPath(path), why));
    if (m_controller.isOpen())
        m_centre->notice()->showNotice(tr("Could not open %1: %2").arg(widgets::shownName(path), why));
    else
        m_start->showFailure(path, why);
}

bool MainWindow::isSettled() const
{
    return !m_files->isOpening() && !m_controller.isDeriving() && !m_jobs->isBusy() && !m_graph->isBusy()
        && !m_tune->isRunning() && !m_hosts->job().isRunning() && !m_hosts->isTaking()
        && !m_backends->isRunning() && !m_thresholds->isChoosing() && !m_thresholds->isStudying();
}

bool MainWindow::showView(const QString &name)
{
    return name == u"graph" || m_docks->bringToFront(name);
}

void MainWindow::selectSomething()
{
    const auto &snapshot = m_controller.snapshot();
    if (!snapshot || m_controller.selection().current())
        return;
    const auto &suggestion = m_centre->suggestion()->suggestion();
    graph::NodeId node = suggestion ? suggestion->node : 0;
    while (!suggestion && node + 1 < snapshot->graph().nodeCount() && snapshot->graph().isVariable(node))
        ++node;
    m_controller.selection().set(node);
}

void MainWindow::documentShown()
{
    const bool isOpen = m_controller.isOpen();
    m_centre->showDocument(isOpen);
    if (isOpen)
        m_log->forget(); // what was said of another model
    m_docks->setOpen(isOpen);
    m_centre->offerSteps(isOpen);
    if (isOpen)
        m_graph->setFocus(Qt::OtherFocusReason); // its keys walk and edit
    else
        m_start->refresh();
    updateTitle();
    snapshotShown();
}

void MainWindow::snapshotShown()
{
    const auto &snapshot = m_controller.snapshot();
    if (m_centre->notice()->text() == m_notConverted)
        m_centre->notice()->hide();
    m_notConverted.clear();
    if (snapshot && snapshot->error) {
        const QString why = plain(snapshot->error->message());
        m_notConverted = snapshot->error->code == Errc::Cancelled
            ? tr("The conversion was stopped. Run \u203a Compute Again (Shift+F5) converts the model.")
            : tr("These lists cannot be applied: %1").arg(why);
        m_centre->notice()->showNotice(m_notConverted);
        log(m_notConverted);
    }
    m_log->addWarnings(snapshot.get());
    updateActions();
    figuresShown();
}

void MainWindow::figuresShown()
{
    const auto &snapshot = m_controller.snapshot();
    const ComparedOn inputs = areDrawn(m_jobs->data()) ? ComparedOn::DrawnInputs : ComparedOn::Data;
    m_statusLine->showSummary(snapshot ? summaryOf(*snapshot, m_controller.figures(), inputs)
                                       : tr("No model is open."),
                              snapshot ? warningOf(*snapshot, m_controller.figures()) : QString());
    m_centre->suggestion()->refresh();
}

void MainWindow::updateTitle()
{
    setWindowTitle(m_controller.isOpen() ? m_files->name() + QStringLiteral("[*] \u2013 Halftone")
                                         : QStringLiteral("Halftone[*]"));
    setWindowModified(m_files->isModified());
}

ViewTexts MainWindow::viewTexts() const
{
    return textsOf({m_modelBar->wantsErrors(), m_modelBar->wantsLatency(), m_graph->colourBy(),
                    m_graph->sides(), m_graph->openBlocks(), m_bookmarks->bookmarks(),
                    m_graph->view() ? std::optional(m_graph->view()->camera) : std::nullopt,
                    m_graph->detail()});
}

void MainWindow::restoreView(const ViewState &state)
{
    if (state.liveErrors)
        m_modelBar->setWantsErrors(*state.liveErrors);
    if (state.liveLatency)
        m_modelBar->setWantsLatency(*state.liveLatency);
    if (state.colourBy)
        m_graph->setColourBy(*state.colourBy);
    if (state.sides)
        m_graph->setSides(*state.sides);
    if (state.detail)
        m_graph->setDetail(*state.detail);
    if (!state.openBlocks.empty())
        m_graph->restoreOpenBlocks(state.openBlocks);
    if (state.camera && !state.openBlocks.empty())
        m_graph->restoreCamera(*state.camera);
    m_bookmarks->setBookmarks(state.bookmarks);
}

void MainWindow::closeEvent(QCloseEvent *event)
{
    if (!mayDiscardEdits()) {
        event->ignore();
        return;
    }
    QSettings settings;
    settings.setValue(QStringLiteral("geometry"), saveGeometry());
    settings.setValue(QStringLiteral("layout"), m_docks->layout());
    settings.setValue(QStringLiteral("drawingShown"), m_docks->hasShownDrawing());
    m_jobs->cancel();
    m_files->close();
    event->accept();
}

void MainWindow::showEvent(QShowEvent *event)
{
    QMainWindow::showEvent(event);
    m_docks->windowShown();
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (!urls.isEmpty() && urls.front().isLocalFile())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent *event)
{
    const QString path = pathOf(event->mimeData()->urls().value(0));
    if (path.isEmpty())
        return;
    event->acceptProposedAction();
    take(path);
}

/// Closes Find, else clears the selection. Work continues: a key that dismisses a menu or a list must not stop it too.
void MainWindow::dismiss()
{
    if (m_graph->findPanel()->isVisible())
        m_graph->hideFind();
    else
        m_controller.selection().clear();
}

/// Return presses the button that has the focus, as it does in dialogs. Esc, where the focus widget has no use for it, dismisses.
void MainWindow::keyPressEvent(QKeyEvent *event)
{
    auto *const button = qobject_cast<QAbstractButton *>(focusWidget());
    if (button && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter))
        button->click();
    else if (event->key() == Qt::Key_Escape && event->modifiers() == Qt::NoModifier)
        dismiss();
    else
        QMainWindow::keyPressEvent(event);
}

bool MainWindow::focusNextPrevChild(bool next)
{
    return m_focusWalk.goToNext(next);
}

} // namespace halftone::app
