#include "app/bars/model_bar.h"
#include "app/bookmarks_menu.h"
#include "app/centre.h"
#include "app/dialogs/help_dialogs.h"
#include "app/document_files.h"
#include "app/drawn_inputs.h"
#include "app/export_job.h"
#include "app/hosts/hosts_job.h"
#include "app/icons.h"
#include "app/main_window.h"
#include "app/recent_menu.h"
#include "core/dialect/dialect.h"
#include "widgets/calibration/calibration_panel.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/graphview/legend.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/oplists/policy_commands.h"
#include "widgets/tables/layers_table.h"

#include <QActionGroup>
#include <QMenuBar>
#include <QSettings>

/// The window's menus.
namespace halftone::app {
namespace {

using widgets::plain;

template <class Choice>
struct ChoiceText
{
    QString text;
    Choice choice;
};

/// A menu of choices of which one holds; `take` gets the one that is chosen.
template <class Choice, class Take>
QActionGroup *addChoices(QMenu *menu, const QString &title, const std::vector<ChoiceText<Choice>> &choices,
                         Choice now, Take take)
{
    QMenu *const submenu = menu->addMenu(title);
    auto *const group = new QActionGroup(submenu);
    for (const auto &[text, choice] : choices) {
        QAction *const action = submenu->addAction(text);
        action->setCheckable(true);
        action->setChecked(choice == now);
        action->setData(static_cast<int>(choice));
        group->addAction(action);
        QObject::connect(action, &QAction::triggered, submenu, [take, choice = choice] { take(choice); });
    }
    return group;
}

/// "&Undo Move Convolution", where there is something to undo.
void showStep(QAction *action, const QString &text, bool isPossible, const std::string &what)
{
    const QString whole = isPossible ? text + ' ' + plain(what) : text;
    action->setEnabled(isPossible);
    action->setText(whole);
    action->setToolTip(isPossible ? QString(text).remove('&') + ' ' + plain(what)
                                  : QString(text).remove('&'));
}

} // namespace

QAction *MainWindow::add(QMenu *menu, const QString &text, const QKeySequence &keys,
                         void (MainWindow::*slot)())
{
    QAction *const action = menu->addAction(text);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, slot);
    return action;
}

QAction *MainWindow::addForDocument(QMenu *menu, const QString &text, const QKeySequence &keys,
                                    void (MainWindow::*slot)())
{
    m_documentActions.push_back(add(menu, text, keys, slot));
    return m_documentActions.back();
}

void MainWindow::buildMenus()
{
    buildFileMenu();
    buildEditMenu();
    buildViewMenu();
    buildModelMenu();
    buildRunMenu();
    buildHelpMenu();
}

void MainWindow::buildFileMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&File"));
    m_open = add(menu, tr("&Open…"), QKeySequence::Open, &MainWindow::chooseFile);
    m_open->setIcon(lineIcon(Glyph::Open));
    m_recent = new RecentMenu(tr("Open &Recent"), menu);
    menu->addMenu(m_recent);
    connect(menu, &QMenu::aboutToShow, m_recent, &RecentMenu::fill);
    connect(m_recent, &RecentMenu::fileRequested, this, [this](const QString &path) { open(path); });
    connect(m_recent, &RecentMenu::fileGone, this, [this](const QString &path) {
        m_centre->notice()->showNotice(tr("%1 no longer exists and was removed from the list.").arg(path));
    });
    QMenu *const ofSamples = menu->addMenu(tr("Open Sa&mple"));
    for (const Sample &sample : samples())
        ofSamples->addAction(tr("&%1 Model").arg(QString::fromUtf8(sample.format->title)), this,
                             [this, sample] { openSample(sample); });
    addForDocument(menu, tr("Re&load"), Qt::Key_F5, &MainWindow::reload);
    menu->addSeparator();
    m_save = addForDocument(menu, tr("&Save Session"), QKeySequence::Save, &MainWindow::save);
    m_save->setIcon(lineIcon(Glyph::Save));
    addForDocument(menu, tr("Save Session &As…"), Qt::CTRL | Qt::SHIFT | Qt::Key_S, &MainWindow::saveAs);
    menu->addSeparator();
    QAction *const whole = menu->addAction(tr("&Export…"), m_export, &ExportJob::askAndExport);
    whole->setShortcut(Qt::CTRL | Qt::Key_E);
    m_documentActions.push_back(whole);
    addForDocument(menu, tr("Export &Picture…"), Qt::CTRL | Qt::SHIFT | Qt::Key_E,
                   &MainWindow::exportPicture);
    menu->addSeparator();
    addForDocument(menu, tr("&Close"), QKeySequence::Close, &MainWindow::closeDocument);
    QAction *const quit = menu->addAction(tr("&Quit"), this, &QWidget::close);
    quit->setShortcut(Qt::CTRL | Qt::Key_Q);
}

void MainWindow::buildEditMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&Edit"));
    m_undo = menu->addAction(tr("&Undo"), &m_controller, &widgets::DocumentController::undo);
    m_undo->setIcon(lineIcon(Glyph::Undo));
    m_undo->setShortcut(QKeySequence::Undo);
    m_redo = menu->addAction(tr("&Redo"), &m_controller, &widgets::DocumentController::redo);
    m_redo->setIcon(lineIcon(Glyph::Redo));
    m_redo->setShortcuts(
        {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z), QKeySequence(Qt::CTRL | Qt::Key_Y)});
    menu->addSeparator();
    QAction *const find = menu->addAction(tr("&Find…"), m_graph, &widgets::GraphView::showFind);
    find->setShortcut(QKeySequence::Find);
    m_documentActions.push_back(find);
    QAction *const pattern = menu->addAction(tr("Edit by &Pattern…"), m_lists->commands(),
                                             &widgets::PolicyCommands::editByPattern);
    m_documentActions.push_back(pattern);
    m_documentActions.push_back(
        menu->addAction(tr("&Copy as Python Call"), m_lists->commands(), &widgets::PolicyCommands::copyCall));
    menu->addSeparator();
    add(menu, tr("Pr&eferences…"), Qt::CTRL | Qt::Key_Comma, &MainWindow::showPreferences);
}

void MainWindow::buildViewMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&View"));
    buildCameraActions(menu);
    m_bookmarks = new BookmarksMenu(m_graph, this);
    menu->addMenu(m_bookmarks);
    menu->addSeparator();
    QAction *const everything = menu->addAction(tr("Show &All Nodes"));
    everything->setCheckable(true);
    m_documentActions.push_back(everything);
    everything->setToolTip(tr("Show constants, and pairs of quantization on edges, as nodes; list constants "
                              "among layers and operators"));
    connect(everything, &QAction::triggered, m_graph, [this](bool wants) {
        m_graph->setDetail(wants ? layout::Detail::Everything : layout::Detail::Computed);
    });
    connect(m_graph, &widgets::GraphView::detailChanged, everything,
            [this, everything](layout::Detail detail) {
                const bool isAll = detail == layout::Detail::Everything;
                everything->setChecked(isAll);
                m_docks->panel<widgets::LayersTable>()->setConstantsShown(isAll);
                m_lists->setConstantsShown(isAll);
            });
    buildGraphMenus(menu);
    addLegendAction(menu);
    menu->addSeparator();
    m_docks->addActions(menu);
    const auto pane = [this, menu](const QString &text, const QKeySequence &key, bool next) {
        QAction *const action = menu->addAction(text, this, [this, next] { m_focusWalk.goToPane(next); });
        action->setShortcut(key);
        m_documentActions.push_back(action);
    };
    pane(tr("&Next Panel"), Qt::Key_F6, true);
    pane(tr("Pre&vious Panel"), Qt::SHIFT | Qt::Key_F6, false);
    menu->addAction(tr("Reset the La&yout"), m_docks.get(), &PanelDocks::resetLayout);
    menu->addSeparator();
    buildThemeMenu(menu);
}

void MainWindow::addLegendAction(QMenu *menu)
{
    const QString key = QStringLiteral("legendFolded");
    widgets::Legend *const legend = m_graph->legend();
    legend->setFolded(QSettings().value(key, false).toBool());
    QAction *const action = menu->addAction(tr("&Legend"));
    action->setCheckable(true);
    action->setChecked(!legend->isFolded());
    connect(action, &QAction::toggled, legend, [legend, key](bool isShown) {
        legend->setFolded(!isShown);
        QSettings().setValue(key, !isShown);
    });
    connect(legend, &widgets::Legend::foldedChanged, action,
            [action](bool isFolded) { action->setChecked(!isFolded); });
    m_documentActions.push_back(action);
}

void MainWindow::buildCameraActions(QMenu *menu)
{
    using widgets::GraphView;
    const auto view = [this, menu](const QString &text, const QKeySequence &keys, void (GraphView::*slot)()) {
        QAction *const action = menu->addAction(text, m_graph, slot);
        action->setShortcut(keys);
        m_documentActions.push_back(action);
    };
    view(tr("Zoom &In"), QKeySequence::ZoomIn, &GraphView::zoomIn);
    view(tr("Zoom &Out"), QKeySequence::ZoomOut, &GraphView::zoomOut);
    view(tr("Actual &Size"), Qt::CTRL | Qt::Key_0, &GraphView::zoomToFull);
    view(tr("&Fit\tSpace"), {}, &GraphView::fit); // the key is the graph's own: elsewhere it presses buttons
    view(tr("Fol&d All Blocks"), {}, &GraphView::foldAll);
    view(tr("&Unfold All Blocks"), {}, &GraphView::unfoldAll);
    view(tr("&Back"), QKeySequence(Qt::ALT | Qt::Key_Left), &GraphView::back);
    view(tr("For&ward"), QKeySequence(Qt::ALT | Qt::Key_Right), &GraphView::forward);
}

void MainWindow::buildGraphMenus(QMenu *menu)
{
    using widgets::ColourBy;
    using widgets::GraphView;
    using widgets::Sides;
    addChoices<ColourBy>(menu, tr("&Colour By"),
                         {{tr("&Precision"), ColourBy::Precision},
                          {tr("&Error"), ColourBy::Error},
                          {tr("&Latency"), ColourBy::Latency},
                          {tr("&Overflow Risk"), ColourBy::Overflow},
                          {tr("&Requested"), ColourBy::Asked},
                          {tr("R&an In"), ColourBy::RanIn}},
                         m_graph->colourBy(), [this](ColourBy by) { m_graph->setColourBy(by); });
    QActionGroup *const sides
        = addChoices<Sides>(menu, tr("&Graphs"),
                            {{tr("&Original"), Sides::Original},
                             {tr("&Converted"), Sides::Converted},
                             {tr("&Side by Side"), Sides::Both}},
                            m_graph->sides(), [this](Sides shown) { m_graph->setSides(shown); });
    connect(m_graph, &GraphView::sidesChanged, sides, [sides](Sides shown) {
        for (QAction *action : sides->actions())
            action->setChecked(action->data().toInt() == static_cast<int>(shown));
    });
}

void MainWindow::buildThemeMenu(QMenu *menu)
{
    addChoices<Theme>(
        menu, tr("&Theme"),
        {{tr("Same as &Desktop"), Theme::Desktop}, {tr("&Light"), Theme::Light}, {tr("D&ark"), Theme::Dark}},
        m_preferences.theme, [this](Theme theme) {
            m_preferences.theme = theme;
            savePreferences(m_preferences);
            applyTheme(theme);
        });
}

void MainWindow::buildModelMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&Model"));
    menu->setToolTipsVisible(true);
    addForDocument(menu, tr("Attach &Data…"), Qt::CTRL | Qt::Key_D, &MainWindow::attachData);
    addForDocument(menu, tr("Prepr&ocessing\u2026"), {}, &MainWindow::showPreprocessing)
        ->setToolTip(tr("See and correct how pictures become the input of the model"));
    addForDocument(menu, tr("Draw Random &Inputs"), {}, &MainWindow::drawInputs)
        ->setToolTip(drawnInputsMeaning());
    m_documentActions.push_back(
        menu->addAction(tr("&Load Policy…"), m_lists->commands(), &widgets::PolicyCommands::loadPolicy));
    m_documentActions.push_back(
        menu->addAction(tr("I&mport Lists…"), m_lists->commands(), &widgets::PolicyCommands::importLists));
    m_documentActions.push_back(
        menu->addAction(tr("&Save Policy…"), m_lists->commands(), &widgets::PolicyCommands::savePolicy));
    m_documentActions.push_back(
        menu->addAction(tr("&Reset Lists"), m_lists->commands(), &widgets::PolicyCommands::resetLists));
    menu->addSeparator();
    m_castParams = menu->addAction(tr("Store &Parameters in the Target Type"));
    m_castParams->setCheckable(true);
    connect(m_castParams, &QAction::triggered, this,
            [this](bool on) { m_controller.apply(policy::SetCastParams{on}); });
    m_documentActions.push_back(m_castParams);
}

void MainWindow::buildRunMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&Run"));
    addForDocument(menu, tr("Compute &Again"), Qt::SHIFT | Qt::Key_F5, &MainWindow::computeAgain);
    menu->setToolTipsVisible(true);
    addForDocument(menu, tr("&Measure Latency"), {}, &MainWindow::measureLatency)
        ->setToolTip(tr("Measure both models on this machine, now and after every edit"));
    addForDocument(menu, tr("&Calibrate"), {}, &MainWindow::calibrate)
        ->setToolTip(tr("Collect the ranges of all tensors and show their int8 thresholds"));
    addForDocument(menu, tr("&Tune"), {}, &MainWindow::startTuning)
        ->setToolTip(tr("Search for the layers that must stay in float32"));
    addForDocument(menu, tr("Compare with &Backend…"), {}, &MainWindow::compareBackends)
        ->setToolTip(
            tr("Run the unconverted model on a second backend and show the differences in the layers table"));
    const QString whyNot = whyNoHosts();
    if (whyNot.isEmpty()) {
        addForDocument(menu, tr("Run on &Hosts…"), {}, &MainWindow::runOnHosts)
            ->setToolTip(tr("Compute with the attached data on many machines"));
    } else {
        QAction *const hosts = menu->addAction(tr("Run on &Hosts… (built without Open MPI)"));
        hosts->setEnabled(false);
        hosts->setToolTip(whyNot);
    }
    m_stop = add(menu, tr("&Stop"), Qt::SHIFT | Qt::Key_Escape, &MainWindow::stopJobs);
    m_stop->setToolTip(tr("Stop computing (%1)").arg(m_stop->shortcut().toString(QKeySequence::NativeText)));
    m_stop->setIcon(lineIcon(Glyph::Stop));
    m_stop->setEnabled(false);
}

void MainWindow::buildHelpMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&Help"));
    menu->addAction(tr("&Guide"), this, [this] { showGuide(this); })->setShortcut(Qt::Key_F1);
    menu->addAction(tr("Gl&ossary"), this, [this] { showGlossary(this); });
    menu->addAction(tr("&Shortcuts"), this, [this] { showShortcutSheet(this); })
        ->setShortcut(Qt::SHIFT | Qt::Key_F1);
    menu->addAction(tr("&About Halftone"), this, [this] { showAboutDialog(this); });
}

void MainWindow::updateActions()
{
    const session::Document *const document = m_controller.document();
    for (QAction *action : m_documentActions)
        action->setEnabled(document != nullptr);
    m_bookmarks->setDocumentOpen(document != nullptr);
    showStep(m_undo, tr("&Undo"), document && document->canUndo(),
             document ? document->undoText() : std::string());
    showStep(m_redo, tr("&Redo"), document && document->canRedo(),
             document ? document->redoText() : std::string());
    calibration().setDataAttached(m_jobs->data().has_value());
    m_modelBar->refresh();
    if (document)
        m_castParams->setChecked(document->policy().castParams.value_or(
            dialect::of(m_controller.snapshot()->graph()).storesCastParameters()));
}

} // namespace halftone::app
