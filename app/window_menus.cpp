#include "app/document_files.h"
#include "app/icons.h"
#include "app/main_window.h"
#include "app/notice_bar.h"
#include "widgets/calibration/calibration_panel.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/tables/layers_table.h"

#include <QActionGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QMenuBar>
#include <QProgressBar>
#include <QStatusBar>
#include <QToolBar>
#include <QToolButton>

/// The window's menus, tool bar and status bar.
namespace halftone::app {

using widgets::plain;

QAction *MainWindow::add(QMenu *menu, const QString &text, const QKeySequence &keys,
                         void (MainWindow::*slot)())
{
    QAction *const action = menu->addAction(text);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, slot);
    return action;
}

void MainWindow::buildActions()
{
    buildFileMenu();
    buildEditMenu();
    buildViewMenu();
    buildModelMenu();
    buildRunMenu();
    buildHelpMenu();
    m_lists->addKeysTo(m_graph);
    m_lists->addKeysTo(m_layers);
}

void MainWindow::buildFileMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&File"));
    m_open = add(menu, tr("&Open …"), QKeySequence::Open, &MainWindow::chooseFile);
    m_open->setIcon(lineIcon(Glyph::Open));
    m_recentMenu = menu->addMenu(tr("Open &Recent"));
    connect(menu, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    fillRecentMenu();
    add(menu, tr("Open the Sa&mple"), {}, &MainWindow::openSample);
    m_documentActions.push_back(add(menu, tr("Re&load"), Qt::Key_F5, &MainWindow::reload));
    menu->addSeparator();
    m_save = add(menu, tr("&Save Session"), QKeySequence::Save, &MainWindow::save);
    m_save->setIcon(lineIcon(Glyph::Save));
    m_documentActions.push_back(m_save);
    m_documentActions.push_back(
        add(menu, tr("Save Session &As …"), Qt::CTRL | Qt::SHIFT | Qt::Key_S, &MainWindow::saveAs));
    menu->addSeparator();
    m_documentActions.push_back(add(menu, tr("&Export …"), Qt::CTRL | Qt::Key_E, &MainWindow::exportAll));
    m_documentActions.push_back(
        add(menu, tr("Export &Picture …"), Qt::CTRL | Qt::SHIFT | Qt::Key_E, &MainWindow::exportPicture));
    menu->addSeparator();
    m_documentActions.push_back(add(menu, tr("&Close"), QKeySequence::Close, &MainWindow::closeDocument));
    QAction *const quit = menu->addAction(tr("&Quit"), this, &QWidget::close);
    quit->setShortcut(Qt::CTRL | Qt::Key_Q);
}

void MainWindow::fillRecentMenu()
{
    m_recentMenu->clear();
    const QStringList files = recentFiles();
    for (int i = 0; i < files.size(); ++i) {
        const QString path = files[i];
        QAction *const action = m_recentMenu->addAction(QFileInfo(path).fileName());
        action->setShortcut(QKeySequence(Qt::CTRL | Qt::Key(Qt::Key_1 + i)));
        action->setToolTip(path);
        connect(action, &QAction::triggered, this, [this, path] {
            if (QFileInfo::exists(path)) {
                open(path);
                return;
            }
            removeRecentFile(path);
            m_noticeBar->showNotice(tr("%1 is no longer there: taken off the list.").arg(path));
        });
    }
    m_recentMenu->setEnabled(!files.isEmpty());
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
    QAction *const find = menu->addAction(tr("&Find …"), m_graph, &widgets::GraphView::showFind);
    find->setShortcut(QKeySequence::Find);
    m_documentActions.push_back(find);
    QAction *const pattern
        = menu->addAction(tr("Edit by &Pattern …"), m_lists, &widgets::OpListsPanel::editByPattern);
    m_documentActions.push_back(pattern);
    m_documentActions.push_back(
        menu->addAction(tr("Copy as &MXNet Call"), m_lists, &widgets::OpListsPanel::copyMxnetCall));
    menu->addSeparator();
    add(menu, tr("P&references …"), Qt::CTRL | Qt::Key_Comma, &MainWindow::showPreferences);
}

void MainWindow::buildViewMenu()
{
    using widgets::GraphView;
    QMenu *const menu = menuBar()->addMenu(tr("&View"));
    const auto view = [this, menu](const QString &text, const QKeySequence &keys, void (GraphView::*slot)()) {
        QAction *const action = menu->addAction(text, m_graph, slot);
        action->setShortcut(keys);
        m_documentActions.push_back(action);
    };
    view(tr("Zoom &In"), QKeySequence::ZoomIn, &GraphView::zoomIn);
    view(tr("Zoom &Out"), QKeySequence::ZoomOut, &GraphView::zoomOut);
    view(tr("Actual &Size"), Qt::CTRL | Qt::Key_0, &GraphView::zoomToFull);
    view(tr("&Fit\tSpace"), {}, &GraphView::fit); // the key is the graph's own: elsewhere it presses buttons
    view(tr("&Back"), QKeySequence(Qt::ALT | Qt::Key_Left), &GraphView::back);
    view(tr("For&ward"), QKeySequence(Qt::ALT | Qt::Key_Right), &GraphView::forward);
    menu->addSeparator();

    QMenu *const colours = menu->addMenu(tr("&Colour by"));
    auto *const colourGroup = new QActionGroup(this);
    const std::pair<QString, widgets::ColourBy> kinds[] = {{tr("&Precision"), widgets::ColourBy::Precision},
                                                           {tr("&Error"), widgets::ColourBy::Error},
                                                           {tr("&Latency"), widgets::ColourBy::Latency},
                                                           {tr("&Overflow"), widgets::ColourBy::Overflow}};
    for (const auto &[text, by] : kinds) {
        QAction *const action = colours->addAction(text);
        action->setCheckable(true);
        action->setChecked(by == widgets::ColourBy::Precision);
        colourGroup->addAction(action);
        connect(action, &QAction::triggered, m_graph, [this, by = by] { m_graph->setColourBy(by); });
    }
    QMenu *const sides = menu->addMenu(tr("&Graphs"));
    auto *const sideGroup = new QActionGroup(this);
    const std::pair<QString, widgets::Sides> which[] = {{tr("&Original"), widgets::Sides::Original},
                                                        {tr("&Converted"), widgets::Sides::Converted},
                                                        {tr("&Side by Side"), widgets::Sides::Both}};
    for (const auto &[text, shown] : which) {
        QAction *const action = sides->addAction(text);
        action->setCheckable(true);
        action->setChecked(shown == m_graph->sides());
        sideGroup->addAction(action);
        connect(action, &QAction::triggered, m_graph, [this, shown = shown] { m_graph->setSides(shown); });
        connect(m_graph, &GraphView::sidesChanged, action,
                [this, action, shown = shown] { action->setChecked(m_graph->sides() == shown); });
    }
    menu->addSeparator();

    const QList<QKeySequence> keys{QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_L),
                                   QKeySequence(Qt::CTRL | Qt::Key_I),
                                   QKeySequence(Qt::CTRL | Qt::Key_L),
                                   QKeySequence(Qt::CTRL | Qt::Key_R),
                                   QKeySequence(Qt::CTRL | Qt::Key_T),
                                   QKeySequence(Qt::CTRL | Qt::Key_K),
                                   QKeySequence(Qt::CTRL | Qt::Key_M)};
    for (std::size_t i = 0; i < m_docks.size(); ++i) {
        QAction *const action = menu->addAction(m_docks[i]->windowTitle());
        action->setShortcut(keys.value(static_cast<qsizetype>(i)));
        action->setCheckable(true);
        QDockWidget *const dock = m_docks[i];
        connect(action, &QAction::triggered, this, [this, dock] { showOrHide(dock); });
        connect(dock->toggleViewAction(), &QAction::toggled, action, &QAction::setChecked);
        m_dockActions.push_back(action);
    }
    const auto pane = [this, menu](const QString &text, const QKeySequence &key, bool next) {
        QAction *const action = menu->addAction(text, this, [this, next] { goToPane(next); });
        action->setShortcut(key);
        m_documentActions.push_back(action);
    };
    pane(tr("&Next Panel"), Qt::Key_F6, true);
    pane(tr("Pre&vious Panel"), Qt::SHIFT | Qt::Key_F6, false);
    connect(menu->addAction(tr("Reset the La&yout")), &QAction::triggered, this,
            [this] { restoreState(m_firstLayout, kLayoutVersion); });
    menu->addSeparator();
    QMenu *const themes = menu->addMenu(tr("&Theme"));
    auto *const themeGroup = new QActionGroup(this);
    const std::pair<QString, Theme> choices[]
        = {{tr("As the &Desktop"), Theme::Desktop}, {tr("&Light"), Theme::Light}, {tr("D&ark"), Theme::Dark}};
    for (const auto &[text, theme] : choices) {
        QAction *const action = themes->addAction(text);
        action->setCheckable(true);
        action->setChecked(theme == m_preferences.theme);
        themeGroup->addAction(action);
        connect(action, &QAction::triggered, this, [this, theme = theme] {
            m_preferences.theme = theme;
            savePreferences(m_preferences);
            applyTheme(theme);
        });
    }
}

void MainWindow::buildModelMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&Model"));
    m_documentActions.push_back(
        add(menu, tr("Attach &Data …"), Qt::CTRL | Qt::Key_D, &MainWindow::attachData));
    m_documentActions.push_back(
        menu->addAction(tr("&Load Policy …"), m_lists, &widgets::OpListsPanel::loadPolicy));
    m_documentActions.push_back(
        menu->addAction(tr("&Save Policy …"), m_lists, &widgets::OpListsPanel::savePolicy));
    m_documentActions.push_back(
        menu->addAction(tr("&Reset Lists"), m_lists, &widgets::OpListsPanel::resetLists));
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
    QAction *const again = menu->addAction(tr("Compute &Again"), m_jobs, &LiveJobs::runAgain);
    again->setShortcut(Qt::SHIFT | Qt::Key_F5);
    m_documentActions.push_back(again);
    m_cancel = add(menu, tr("&Stop"), Qt::Key_Escape, &MainWindow::stopJobs);
    m_cancel->setIcon(lineIcon(Glyph::Stop));
    m_cancel->setEnabled(false);
}

void MainWindow::buildHelpMenu()
{
    QMenu *const menu = menuBar()->addMenu(tr("&Help"));
    add(menu, tr("&Guide"), Qt::Key_F1, &MainWindow::showGuidePage);
    add(menu, tr("&Shortcuts"), Qt::SHIFT | Qt::Key_F1, &MainWindow::showShortcuts);
    add(menu, tr("&About Halftone"), {}, &MainWindow::showAbout);
}

void MainWindow::buildToolBar()
{
    QToolBar *const bar = addToolBar(tr("Tools"));
    bar->setObjectName(QStringLiteral("tools"));
    bar->setMovable(false);
    bar->addAction(m_open);
    bar->addAction(m_save);
    bar->addSeparator();
    bar->addAction(m_undo);
    bar->addAction(m_redo);
    bar->addSeparator();

    const auto label = [this, bar](const QString &text, QWidget *of) {
        auto *const name = new QLabel(text, this);
        name->setContentsMargins(6, 0, 4, 0);
        name->setForegroundRole(QPalette::WindowText);
        bar->addWidget(name);
        bar->addWidget(of);
        of->setAccessibleName(text);
    };
    m_target = new QComboBox(this);
    m_target->addItem(QStringLiteral("float16"), static_cast<int>(tensor::DType::F16));
    m_target->addItem(QStringLiteral("bfloat16"), static_cast<int>(tensor::DType::BF16));
    connect(m_target, &QComboBox::activated, this, [this] {
        m_controller.apply(policy::SetTarget{static_cast<tensor::DType>(m_target->currentData().toInt())});
    });
    label(tr("target"), m_target);
    m_mode = new QComboBox(this);
    m_mode->addItem(QStringLiteral("typed"), static_cast<int>(policy::Mode::Typed));
    m_mode->addItem(QStringLiteral("mxnet"), static_cast<int>(policy::Mode::Mxnet));
    m_mode->setToolTip(
        tr("typed: casts only where types differ; mxnet: node for node what MXNet 1.9.1 makes"));
    connect(m_mode, &QComboBox::activated, this, [this] {
        m_controller.apply(policy::SetMode{static_cast<policy::Mode>(m_mode->currentData().toInt())});
    });
    label(tr("mode"), m_mode);
    bar->addSeparator();
    m_data = new QToolButton(this);
    m_data->setAutoRaise(true);
    connect(m_data, &QToolButton::clicked, this, &MainWindow::attachData);
    label(tr("data"), m_data);
    bar->addSeparator();
    m_liveErrors = new QCheckBox(tr("errors"), this);
    m_liveErrors->setChecked(true);
    m_liveErrors->setToolTip(tr("After every edit, compare all layers with float32"));
    connect(m_liveErrors, &QCheckBox::toggled, m_jobs, &LiveJobs::setErrorsWanted);
    m_liveLatency = new QCheckBox(tr("latency"), this);
    m_liveLatency->setToolTip(tr("After every edit, measure both networks on this machine"));
    connect(m_liveLatency, &QCheckBox::toggled, m_jobs, &LiveJobs::setLatencyWanted);
    label(tr("live"), m_liveErrors);
    m_liveErrors->setAccessibleName(tr("Live errors"));
    m_liveLatency->setAccessibleName(tr("Live latency"));
    bar->addWidget(m_liveLatency);
}

void MainWindow::buildStatusBar()
{
    m_summary = new QLabel(this);
    m_summary->setAccessibleName(tr("Summary"));
    m_summary->setTextInteractionFlags(Qt::TextSelectableByMouse);
    statusBar()->addWidget(m_summary, 1);
    m_progressText = new QLabel(this);
    m_progress = new QProgressBar(this);
    m_progress->setRange(0, 100);
    m_progress->setMaximumWidth(fontMetrics().averageCharWidth() * 24);
    m_progress->setAccessibleName(tr("Progress"));
    m_stop = new QToolButton(this);
    m_stop->setAutoRaise(true);
    m_stop->setDefaultAction(m_cancel);
    for (QWidget *widget : {static_cast<QWidget *>(m_progressText), static_cast<QWidget *>(m_progress),
                            static_cast<QWidget *>(m_stop)}) {
        statusBar()->addPermanentWidget(widget);
        widget->hide();
    }
}

void MainWindow::updateActions()
{
    const bool open = m_controller.isOpen();
    for (QAction *action : m_documentActions)
        action->setEnabled(open);
    for (QWidget *widget :
         std::initializer_list<QWidget *>{m_target, m_mode, m_data, m_liveErrors, m_liveLatency})
        widget->setEnabled(open);
    const session::Document *const document = m_controller.document();
    const auto step = [](QAction *action, const QString &text, bool possible, const std::string &what) {
        action->setEnabled(possible);
        action->setText(possible ? text + ' ' + plain(what) : text);
        action->setToolTip(possible ? QString(text).remove('&') + ' ' + plain(what)
                                    : QString(text).remove('&'));
    };
    step(m_undo, tr("&Undo"), open && document->canUndo(), open ? document->undoText() : std::string());
    step(m_redo, tr("&Redo"), open && document->canRedo(), open ? document->redoText() : std::string());
    const auto &attached = m_jobs->data();
    m_calibration->setDataAttached(attached.has_value());
    m_data->setText(attached ? QFileInfo(plain(attached->inputs)).fileName() : tr("attach …"));
    m_data->setToolTip(attached ? plain(attached->inputs)
                                : tr("An .npz or a folder of pictures, for errors and ranges"));
    if (!open)
        return;
    const policy::Policy &policy = document->policy();
    m_target->setCurrentIndex(m_target->findData(static_cast<int>(policy.target)));
    m_mode->setCurrentIndex(m_mode->findData(static_cast<int>(policy.mode.value_or(policy::Mode::Typed))));
    m_castParams->setChecked(policy.castParams.value_or(false));
}

} // namespace halftone::app
