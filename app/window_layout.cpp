#include "app/main_window.h"

#include <QDockWidget>
#include <QSettings>
#include <QTimer>

/// Where the window's docks lie.
namespace halftone::app {

QDockWidget *MainWindow::addDock(const QString &title, const QString &name, QWidget *panel,
                                 Qt::DockWidgetArea area)
{
    auto *const dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(panel);
    addDockWidget(area, dock);
    m_docks.push_back(dock);
    return dock;
}

/// Lists left, inspector right, the rest below in tabs.
void MainWindow::resetLayout()
{
    setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    QDockWidget *firstBelow = nullptr;
    for (QDockWidget *dock : m_docks) {
        dock->setFloating(false);
        dock->show();
        if (dock->objectName() == u"lists") {
            addDockWidget(Qt::LeftDockWidgetArea, dock);
        } else if (dock->objectName() == u"inspector") {
            addDockWidget(Qt::RightDockWidgetArea, dock);
        } else if (!firstBelow) {
            addDockWidget(Qt::BottomDockWidgetArea, dock);
            firstBelow = dock;
        } else {
            tabifyDockWidget(firstBelow, dock);
        }
    }
    firstBelow->raise();
    sizeDocks();
}

void MainWindow::sizeDocks()
{
    const int character = fontMetrics().averageCharWidth();
    resizeDocks({m_docks[0], m_docks[1]}, {50 * character, 50 * character}, Qt::Horizontal);
    resizeDocks({m_docks[2]}, {height() * 3 / 10}, Qt::Vertical);
}

void MainWindow::showOrHide(QDockWidget *dock)
{
    const bool isInFront = dock->isVisible() && !dock->visibleRegion().isEmpty();
    dock->setVisible(!isInFront);
    if (!isInFront) {
        dock->raise();
        setAttribute(Qt::WA_KeyboardFocusChange);
        dock->widget()->setFocus(Qt::ShortcutFocusReason);
    }
    // A click has turned the mark already.
    for (std::size_t i = 0; i < m_docks.size(); ++i)
        m_dockActions[i]->setChecked(!m_docks[i]->isHidden());
}

/// Sizes of docks given before the window has its own are lost.
void MainWindow::showEvent(QShowEvent *event)
{
    QMainWindow::showEvent(event);
    if (m_sizesDocks && m_docksShown)
        sizeDocks();
}

void MainWindow::setDocksShown(bool shown)
{
    if (shown == m_docksShown)
        return;
    m_docksShown = shown;
    if (shown) {
        restoreState(m_openLayout, kLayoutVersion);
        if (m_sizesDocks)
            QTimer::singleShot(0, this, &MainWindow::sizeDocks);
        m_sizesDocks = m_sizesDocks && !isVisible();
        return;
    }
    m_openLayout = saveState(kLayoutVersion);
    for (QDockWidget *dock : m_docks)
        dock->hide();
}

void MainWindow::restoreLayout()
{
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
    m_sizesDocks = !restoreState(settings.value(QStringLiteral("layout")).toByteArray(), kLayoutVersion);
}

} // namespace halftone::app
