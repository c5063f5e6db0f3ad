#include "app/attach_dialog.h"
#include "app/document_files.h"
#include "app/help_dialogs.h"
#include "app/main_window.h"
#include "app/notice_bar.h"
#include "app/preferences_dialog.h"
#include "core/base/mapped_file.h"
#include "core/policy/policy_json.h"
#include "widgets/common/formatters.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/models/list_moves.h"
#include "widgets/oplists/op_lists_panel.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QStatusBar>

/// What the window's menus and tool bar do.
namespace halftone::app {
namespace {

using widgets::plain;

const QString kModelFilter
    = QStringLiteral("Models and sessions (*-symbol.json *.json *.halftone);;All files (*)");
const QString kSessionFilter = QStringLiteral("Sessions (*.halftone)");

} // namespace

void MainWindow::chooseFile()
{
    const QString path = QFileDialog::getOpenFileName(this, tr("Open"), QString(), kModelFilter);
    if (!path.isEmpty())
        open(path);
}

void MainWindow::reload()
{
    const QString session = m_files->sessionPath();
    open(session.isEmpty() ? plain(m_controller.snapshot()->source->symbolPath) : session,
         session.isEmpty() ? plain(m_controller.snapshot()->source->paramsPath) : QString());
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
        path = plain(m_controller.snapshot()->source->symbolPath);
        path = path.endsWith(u"-symbol.json") ? path.chopped(12) : path;
        path += QStringLiteral(".halftone");
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
    const auto saved = m_files->save(path);
    if (!saved.ok())
        m_noticeBar->showNotice(tr("Not saved: %1").arg(plain(saved.error().message())));
    return saved.ok();
}

void MainWindow::closeDocument()
{
    if (maySetAside())
        m_files->close();
}

void MainWindow::applyPolicyWhenOpen(const QString &path)
{
    if (!m_controller.isOpen() || m_files->isOpening()) {
        m_policyWhenOpen = path;
        return;
    }
    const auto mapped = MappedFile::open(path.toStdString());
    auto policy
        = mapped.ok() ? policy::readPolicy(mapped.value()->text()) : Result<policy::Policy>(mapped.error());
    if (!policy.ok()) {
        const QString why = plain(inFile(policy.error(), path.toStdString()).message());
        m_noticeBar->showNotice(why);
        log(why);
        return;
    }
    m_controller.apply(
        policy::ReplacePolicy{std::move(policy).value(), "Load " + QFileInfo(path).fileName().toStdString()});
}

void MainWindow::attachWhenOpen(const session::ExampleOptions &examples)
{
    if (m_controller.isOpen() && !m_files->isOpening())
        m_jobs->setData(examples);
    else
        m_dataWhenOpen = examples;
}

void MainWindow::attachData()
{
    AttachDialog dialog(m_jobs->data(), m_preferences.pictures, this);
    if (dialog.exec() == QDialog::Accepted)
        m_jobs->setData(dialog.options());
}

void MainWindow::stopJobs()
{
    m_jobs->cancel();
    const QString said
        = tr("Stopped. What was computed before stays; Run \u203a Compute Again (Shift+F5) goes on.");
    statusBar()->showMessage(said, kMessageMs);
    log(said);
}

void MainWindow::showPreferences()
{
    PreferencesDialog dialog(m_preferences, this);
    if (dialog.exec() != QDialog::Accepted)
        return;
    m_preferences = dialog.preferences();
    savePreferences(m_preferences);
    applyTheme(m_preferences.theme);
    m_jobs->setSettings(m_preferences.jobs);
}

void MainWindow::showGuidePage()
{
    showGuide(this);
}

void MainWindow::showShortcuts()
{
    showShortcutSheet(this);
}

void MainWindow::showAbout()
{
    showAboutDialog(this);
}

void MainWindow::showNodesMenu(const QPoint &place)
{
    const auto &snapshot = m_controller.snapshot();
    const std::vector<graph::NodeId> &nodes = m_controller.selection().nodes();
    if (!snapshot || nodes.empty())
        return;
    widgets::ListPayload payload;
    QStringList names;
    for (const graph::NodeId node : nodes) {
        payload.nodes.push_back(snapshot->graph().node(node).name);
        names << plain(payload.nodes.back());
    }
    QMenu menu(this);
    menu.addMenu(m_lists->moveMenu(payload, &menu));
    menu.addSeparator();
    connect(menu.addAction(names.size() == 1 ? tr("Copy Name") : tr("Copy Names")), &QAction::triggered, this,
            [names] { QApplication::clipboard()->setText(names.join('\n')); });
    connect(menu.addAction(tr("Show in Layers")), &QAction::triggered, this,
            [this] { showView(QStringLiteral("layers")); });
    menu.exec(place);
}

} // namespace halftone::app
