#include "app/backend_comparison.h"
#include "app/bars/model_bar.h"
#include "app/bars/status_line.h"
#include "app/centre.h"
#include "app/dialogs/attach_dialog.h"
#include "app/dialogs/changed_session_dialog.h"
#include "app/dialogs/preferences_dialog.h"
#include "app/dialogs/preprocess_dialog.h"
#include "app/document_files.h"
#include "app/drawn_inputs.h"
#include "app/hosts/hosts_dialog.h"
#include "app/main_window.h"
#include "core/io/formats.h"
#include "widgets/common/formatters.h"
#include "widgets/common/path_text.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/models/list_moves.h"
#include "widgets/models/tune_state.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/oplists/policy_dialogs.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QTimer>

/// What the window's menus and tool bar do.
namespace halftone::app {
namespace {

using widgets::plain;

const QString kSessionFilter = QStringLiteral("Sessions (*.halftone)");

/// A policy says nothing about nodes and parameters, which models and sessions do.
bool isPolicy(const QString &path)
{
    return path.endsWith(u".policy.json", Qt::CaseInsensitive)
        || (path.endsWith(u".json", Qt::CaseInsensitive)
            && io::formatOfName(widgets::pathBytes(path)) == nullptr && widgets::readPolicyFile(path).ok());
}

QString openFilter()
{
    return QStringLiteral("Models, sessions and policies (%1 *.json *.halftone);;All files (*)")
        .arg(QString::fromStdString(io::filePatterns()));
}

} // namespace

void MainWindow::chooseFile()
{
    const QString path = QFileDialog::getOpenFileName(this, tr("Open"), QString(), openFilter());
    if (!path.isEmpty())
        take(path);
}

/// What a file is for is told by what it holds: a policy and data are for the model that is open.
void MainWindow::take(const QString &path)
{
    const bool isFolder = widgets::isFolder(path);
    const bool isData = isFolder || path.endsWith(u".npz", Qt::CaseInsensitive);
    if (m_controller.isOpen() && isData) {
        walks::ExampleOptions examples;
        examples.inputs = widgets::pathBytes(path);
        examples.examples = isFolder ? m_preferences.pictures : 0;
        examples.labels = isFolder ? widgets::pathBytes(labelsOf(path)) : std::string();
        const bool needsRules
            = isFolder && !widgets::pathExists(usualRules(*m_controller.snapshot()->source));
        if (needsRules)
            QTimer::singleShot(0, this, [this, examples] { askForData(examples); }); // once the drop is over
        else
            m_jobs->setData(examples);
    } else if (m_controller.isOpen() && isPolicy(path)) {
        applyPolicyWhenOpen(path);
    } else {
        open(path);
    }
}

void MainWindow::reload()
{
    const QString session = m_files->sessionPath();
    open(session.isEmpty() ? widgets::pathText(m_controller.snapshot()->source->modelPath) : session,
         session.isEmpty() ? widgets::pathText(m_controller.snapshot()->source->paramsPath) : QString());
}

void MainWindow::save()
{
    if (!m_controller.isOpen())
        return;
    if (m_files->sessionPath().isEmpty())
        saveAs();
    else
        saveTo(m_files->sessionPath());
}

void MainWindow::saveAs()
{
    if (!m_controller.isOpen())
        return;
    QString path = m_files->sessionPath();
    if (path.isEmpty()) {
        const QString model = widgets::pathText(m_controller.snapshot()->source->modelPath);
        path = folderFor(model) + '/' + nameOfModel(model) + QStringLiteral(".halftone");
    }
    path = QFileDialog::getSaveFileName(this, tr("Save Session"), path, kSessionFilter);
    if (path.isEmpty())
        return;
    if (!path.endsWith(u".halftone"))
        path += QStringLiteral(".halftone");
    saveTo(path);
}

bool MainWindow::saveTo(const QString &path)
{
    if (!mayReplace(path))
        return false;
    const auto saved = m_files->save(path);
    if (!saved.ok()) {
        m_notSaved = tr("Could not save: %1").arg(plain(saved.error().message()));
        m_centre->notice()->showNotice(m_notSaved);
    } else if (!m_notSaved.isEmpty() && m_centre->notice()->text() == m_notSaved) {
        m_centre->notice()->hide();
    }
    return saved.ok();
}

/// What another window has saved is not lost for a key that was pressed here.
bool MainWindow::mayReplace(const QString &path)
{
    if (!m_files->isForeign(path))
        return true;
    ChangedSessionDialog dialog(
        path, [this, path] { return m_files->differencesTo(path); }, this);
    dialog.exec();
    if (dialog.choice() == ChangedSessionDialog::Choice::SaveAs)
        saveAs();
    return dialog.choice() == ChangedSessionDialog::Choice::Overwrite;
}

void MainWindow::closeDocument()
{
    if (!mayDiscardEdits())
        return;
    forgetWhenOpen(); // for what may be opening, which is given up too
    m_files->close();
}

bool MainWindow::mayDiscardEdits()
{
    if (!m_files->isModified())
        return true;
    QMessageBox box(QMessageBox::Question, QStringLiteral("Halftone"),
                    tr("Save the changes to %1?").arg(m_files->name()),
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setInformativeText(
        tr("A session file stores the lists, the data and the view. The model file is not changed."));
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

void MainWindow::applyPolicyWhenOpen(const QString &path)
{
    if (!m_controller.isOpen() || m_files->isOpening()) {
        m_policyWhenOpen = path;
        return;
    }
    auto policy = widgets::readPolicyFile(path);
    if (!policy.ok()) {
        showError(plain(policy.error().message()));
        return;
    }
    m_controller.apply(
        policy::ReplacePolicy{std::move(policy).value(), "Load " + QFileInfo(path).fileName().toStdString()});
}

void MainWindow::exportPicture()
{
    const QString path
        = QFileDialog::getSaveFileName(this, tr("Export Picture"), QStringLiteral("graph.svg"),
                                       QStringLiteral("SVG (*.svg);;PNG (*.png);;PDF (*.pdf)"));
    if (path.isEmpty())
        return;
    const auto written = m_graph->exportTo(path);
    if (!written.ok()) {
        m_centre->notice()->showNotice(tr("Could not export: %1").arg(plain(written.error().message())));
        return;
    }
    m_statusLine->showForAWhile(tr("Wrote %1").arg(path));
    log(tr("wrote %1").arg(path));
}

void MainWindow::attachWhenOpen(const walks::ExampleOptions &examples)
{
    if (m_controller.isOpen() && !m_files->isOpening())
        m_jobs->setData(examples);
    else
        m_dataWhenOpen = examples;
}

/// They were meant for a document that does not open.
void MainWindow::forgetWhenOpen()
{
    m_policyWhenOpen.clear();
    m_dataWhenOpen.reset();
}

void MainWindow::attachData()
{
    askForData(m_jobs->data());
}

void MainWindow::askForData(const std::optional<walks::ExampleOptions> &now)
{
    if (!m_controller.isOpen())
        return;
    AttachDialog dialog(now, m_preferences.pictures, this, m_controller.snapshot()->source.get());
    if (dialog.exec() == QDialog::Accepted)
        m_jobs->setData(dialog.options());
}

void MainWindow::showPreprocessing()
{
    const std::optional<walks::ExampleOptions> attached = m_jobs->data();
    if (!attached || !widgets::isFolder(widgets::pathText(attached->inputs))) {
        showError(tr("Preprocessing applies to pictures. Attach a folder of pictures first "
                     "(Model \u203a Attach Data)."));
        return;
    }
    PreprocessDialog dialog(m_controller.snapshot()->source, *attached, m_preferences.jobs, this);
    if (dialog.exec() != QDialog::Accepted)
        return;
    // Files of the same name with other rules: ranges and values are computed from the start.
    auto *const once = new QObject(this);
    connect(m_jobs, &LiveJobs::dataChanged, once, [this, once] {
        once->deleteLater();
        QTimer::singleShot(0, this, [this] { m_jobs->runAgain(); });
    });
    connect(m_jobs, &LiveJobs::failed, once, &QObject::deleteLater);
    m_jobs->setData(dialog.options());
}

/// Attached data are not lost for a click.
bool MainWindow::mayReplaceData()
{
    const auto &attached = m_jobs->data();
    if (!attached || areDrawn(attached))
        return true;
    QMessageBox box(
        QMessageBox::Question, QStringLiteral("Halftone"),
        tr("Replace %1 by random inputs?").arg(widgets::shownName(widgets::pathText(attached->inputs))),
        QMessageBox::Cancel, this);
    box.setInformativeText(tr("Accuracy is no longer shown then. The attached files are not changed."));
    QPushButton *const replace = box.addButton(tr("Replace"), QMessageBox::AcceptRole);
    box.setDefaultButton(QMessageBox::Cancel);
    box.exec();
    return box.clickedButton() == replace;
}

void MainWindow::drawInputs()
{
    if (!mayReplaceData())
        return;
    const auto file = drawInputsFor(*m_controller.snapshot()->source);
    if (!file.ok()) {
        showDataError(tr("Could not draw random inputs: %1").arg(plain(file.error().message())));
        return;
    }
    walks::ExampleOptions examples;
    examples.inputs = widgets::pathBytes(file.value());
    m_jobs->setData(examples);
    log(drawnInputsMeaning());
}

/// What is opened is not wanted any more; what was open stays, with what it computes.
void MainWindow::stopJobs()
{
    if (m_files->isOpening()) {
        m_files->stopOpening();
        forgetWhenOpen();
        m_statusLine->showForAWhile(tr("Stopped opening."));
        return;
    }
    m_controller.stopDeriving();
    m_jobs->cancel();
    if (m_tune->isRunning())
        Q_EMIT m_tune->stopWanted();
    m_backends->stop();
    const QString said = tr("Stopped. Results so far are kept; Run \u203a Compute Again (Shift+F5) resumes.");
    m_statusLine->showForAWhile(said);
    log(said);
}

void MainWindow::computeAgain()
{
    m_controller.resumeDeriving();
    m_jobs->runAgain();
}

void MainWindow::measureLatency()
{
    showView(QStringLiteral("latency"));
    if (m_modelBar->wantsLatency())
        m_jobs->runAgain();
    else
        m_modelBar->setWantsLatency(true);
}

/// The ranges are collected by themselves once there are data.
void MainWindow::calibrate()
{
    showView(QStringLiteral("calibration"));
    if (!m_jobs->data())
        attachData();
    else if (!m_controller.figures().calibration)
        m_jobs->resume();
}

void MainWindow::startTuning()
{
    showView(QStringLiteral("tune"));
    if (!m_tune->whyNot().isEmpty())
        showError(m_tune->whyNot());
    else if (!m_tune->isRunning())
        Q_EMIT m_tune->startWanted();
}

void MainWindow::compareBackends()
{
    if (const QString why = m_backends->whyNot(); !why.isEmpty()) {
        showDataError(why);
        return;
    }
    const std::vector<backends::BackendInfo> others = m_backends->others();
    QStringList texts;
    for (const backends::BackendInfo &info : others)
        texts << plain(info.name + ": " + info.device);
    auto *const dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Compare with Backend"));
    dialog->setLabelText(tr("Run the unconverted model on %1 and on").arg(plain(m_jobs->settings().backend)));
    dialog->setComboBoxItems(texts);
    connect(dialog, &QInputDialog::textValueSelected, this, [this, others, texts](const QString &text) {
        const auto at = static_cast<std::size_t>(texts.indexOf(text));
        if (at < others.size() && m_backends->whyNot().isEmpty()) {
            m_backends->start(others[at].name);
            m_statusLine->showForAWhile(tr("Comparing with %1…").arg(plain(others[at].name)));
        }
    });
    dialog->open();
}

void MainWindow::runOnHosts()
{
    if (!m_hostsDialog) {
        m_hostsDialog = new HostsDialog(m_hosts, m_jobs, this);
        const auto refresh = [this] {
            if (m_hostsDialog->isVisible())
                m_hostsDialog->refresh();
        };
        connect(&m_controller, &widgets::DocumentController::snapshotChanged, m_hostsDialog, refresh);
        connect(&m_controller, &widgets::DocumentController::documentChanged, m_hostsDialog, refresh);
        connect(m_jobs, &LiveJobs::dataChanged, m_hostsDialog, refresh);
    }
    m_hostsDialog->open();
}

void MainWindow::showPreferences()
{
    PreferencesDialog dialog(m_preferences, this);
    takePreferences(dialog);
}

void MainWindow::showMemoryLimit()
{
    PreferencesDialog dialog(m_preferences, this);
    dialog.focusMemory();
    takePreferences(dialog);
}

void MainWindow::takePreferences(PreferencesDialog &dialog)
{
    if (dialog.exec() != QDialog::Accepted)
        return;
    m_preferences = dialog.preferences();
    savePreferences(m_preferences);
    applyTheme(m_preferences.theme);
    if (m_preferences.jobs != m_jobs->settings() && m_centre->notice()->text() == m_failureOfData)
        m_centre->notice()->hide(); // it is tried again
    m_jobs->setSettings(m_preferences.jobs);
}

widgets::ListPayload MainWindow::chosenNodes()
{
    widgets::ListPayload payload;
    if (const auto &snapshot = m_controller.snapshot())
        for (const graph::NodeId node : m_controller.selection().nodes())
            payload.nodes.push_back(snapshot->graph().node(node).name);
    return payload;
}

/// Before the entries that a menu of nodes has.
void MainWindow::addMoves(QMenu *menu)
{
    const widgets::ListPayload payload = chosenNodes();
    if (payload.isEmpty())
        return;
    QAction *const first = menu->actions().value(0);
    menu->insertMenu(first, m_lists->moveMenu(payload, menu));
    if (QMenu *const block = m_lists->unitMenu(payload, menu))
        menu->insertMenu(first, block);
    menu->insertSeparator(first);
}

void MainWindow::showNodesMenu(const QPoint &place)
{
    QStringList names;
    for (const std::string &name : chosenNodes().nodes)
        names << widgets::exact(name);
    if (names.isEmpty())
        return;
    QMenu menu(this);
    if (m_graph->canUnfoldCurrent())
        menu.addAction(tr("Unfold This Block"), m_graph, &widgets::GraphView::unfoldCurrent);
    if (m_graph->canFoldAround())
        menu.addAction(m_graph->canUnfoldCurrent() ? tr("Fold the Block Around It") : tr("Fold This Block"),
                       m_graph, &widgets::GraphView::foldAround);
    connect(menu.addAction(names.size() == 1 ? tr("Copy Name") : tr("Copy Names")), &QAction::triggered, this,
            [names] { QApplication::clipboard()->setText(names.join('\n')); });
    connect(menu.addAction(tr("Show in Layers")), &QAction::triggered, this,
            [this] { showView(QStringLiteral("layers")); });
    addMoves(&menu);
    menu.exec(place);
}

/// Its figures come first.
void MainWindow::panelShown(const QString &name)
{
    if (name == u"calibration")
        m_jobs->setInView(InView::Ranges);
    else if (name == u"latency")
        m_jobs->setInView(InView::Latency);
    else if (name == u"layers" || name == u"error")
        m_jobs->setInView(InView::Errors);
}

} // namespace halftone::app
