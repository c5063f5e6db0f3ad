#include "app/panel_docks.h"

#include "app/low_window.h"

#include <QAction>
#include <QMainWindow>
#include <QMenu>
#include <QTimer>

#include <algorithm>
#include <utility>

namespace halftone::app {
namespace {

// In characters: a window that has room to spare, and a panel that shows the names of most operators whole.
constexpr int kRoomyWindow = 150;
constexpr int kWidePanel = 44;
constexpr int kFullPanel = 50;
constexpr int kRowsShare = 30; ///< per cent of the height
constexpr int kLowRowsShare = 25; ///< of a window that is low
constexpr int kDrawingShare = 45;
constexpr int kLowDrawingShare = 55; ///< of a window that is low
constexpr int kSideShare = 23; ///< per cent of the width, at most: the graph keeps more than half
constexpr int kWideMs = 100; ///< until layouts have taken it
constexpr int kLayoutVersion = 2; ///< of saved layouts: another set of docks is another version

} // namespace

PanelDocks::PanelDocks(QMainWindow *window, const PanelParts &parts)
    : QObject(window)
    , m_window(window)
{
    for (const Panel &panel : allPanels()) {
        auto *const dock = new QDockWidget(panel.title, window);
        dock->setObjectName(panel.name);
        dock->setWidget(panel.make(parts));
        window->addDockWidget(panel.area, dock);
        connect(dock, &QDockWidget::visibilityChanged, this, [this, panel](bool isVisible) {
            if (isVisible && panel.isDrawing && m_isOpen && m_window->isVisible())
                raiseBottom();
            if (isVisible)
                Q_EMIT panelShown(panel.name);
        });
        m_entries.push_back({panel, dock, nullptr, dock->widget()->minimumWidth()});
    }
}

PanelDocks::~PanelDocks()
{
    for (const Entry &entry : m_entries)
        delete entry.dock;
}

void PanelDocks::addActions(QMenu *menu)
{
    for (Entry &entry : m_entries) {
        QAction *const action = menu->addAction(entry.panel.title);
        action->setShortcut(entry.panel.key);
        action->setCheckable(true);
        QDockWidget *const dock = entry.dock;
        connect(action, &QAction::triggered, this, [this, dock] { showOrHide(dock); });
        connect(dock->toggleViewAction(), &QAction::toggled, action, &QAction::setChecked);
        entry.action = action;
    }
}

QDockWidget *PanelDocks::firstIn(Qt::DockWidgetArea area) const
{
    const auto found
        = std::ranges::find(m_entries, area, [](const Entry &entry) { return entry.panel.area; });
    return found == m_entries.end() ? nullptr : found->dock;
}

/// As the table of panels says.
void PanelDocks::arrange()
{
    m_window->setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    m_window->setCorner(Qt::BottomRightCorner, Qt::BottomDockWidgetArea);
    for (const Entry &entry : m_entries) {
        entry.dock->setFloating(false);
        entry.dock->show();
        QDockWidget *const first = firstIn(entry.panel.area);
        if (first == entry.dock)
            m_window->addDockWidget(entry.panel.area, entry.dock);
        else
            m_window->tabifyDockWidget(first, entry.dock);
    }
    firstIn(Qt::BottomDockWidgetArea)->raise();
    m_isLow = true;
    sizeDocks();
}

/// As wide as so many characters, as long as the graph keeps more than half.
int PanelDocks::widthAtSide(int characters) const
{
    return std::min(characters * m_window->fontMetrics().averageCharWidth(),
                    m_window->width() * kSideShare / 100);
}

void PanelDocks::sizeDocks()
{
    const int width = widthAtSide(kFullPanel);
    m_window->resizeDocks({firstIn(Qt::LeftDockWidgetArea), firstIn(Qt::RightDockWidgetArea)}, {width, width},
                          Qt::Horizontal);
    const int share = isInLowWindow(*m_window) ? kLowRowsShare : kRowsShare;
    m_window->resizeDocks({firstIn(Qt::BottomDockWidgetArea)}, {m_window->height() * share / 100},
                          Qt::Vertical);
}

void PanelDocks::raiseBottom()
{
    if (!std::exchange(m_isLow, false))
        return;
    QTimer::singleShot(0, this, [this] { // when the dock lies where it will be
        const int height
            = m_window->height() * (isInLowWindow(*m_window) ? kLowDrawingShare : kDrawingShare) / 100;
        QDockWidget *const first = firstIn(Qt::BottomDockWidgetArea);
        for (const Entry &entry : m_entries) {
            if (entry.dock->isVisible() && entry.panel.isDrawing && !entry.dock->isFloating()
                && entry.dock->height() < height)
                m_window->resizeDocks({first}, {height}, Qt::Vertical);
        }
    });
}

/// Sizes given before the window has its own are lost, least widths are not: so long they are larger.
void PanelDocks::widen()
{
    sizeDocks();
    const int character = m_window->fontMetrics().averageCharWidth();
    if (m_window->width() < kRoomyWindow * character)
        return;
    for (const Entry &entry : m_entries) {
        QWidget *const panel = entry.dock->widget();
        if (entry.leastWidth == 0)
            continue;
        panel->setMinimumWidth(std::max(entry.leastWidth, widthAtSide(kWidePanel)));
        QTimer::singleShot(kWideMs, panel,
                           [panel, least = entry.leastWidth] { panel->setMinimumWidth(least); });
    }
}

/// A page behind others comes to the front first.
void PanelDocks::showOrHide(QDockWidget *dock)
{
    const bool isInFront = dock->isVisible() && !dock->visibleRegion().isEmpty();
    dock->setVisible(!isInFront);
    if (!isInFront) {
        dock->raise();
        m_window->setAttribute(Qt::WA_KeyboardFocusChange);
        dock->widget()->setFocus(Qt::ShortcutFocusReason);
    }
    for (const Entry &entry : m_entries) // a click has turned the mark already
        entry.action->setChecked(!entry.dock->isHidden());
}

bool PanelDocks::bringToFront(const QString &name)
{
    const auto found
        = std::ranges::find(m_entries, name, [](const Entry &entry) { return entry.panel.name; });
    if (found == m_entries.end())
        return false;
    if (m_isOpen) {
        found->dock->show();
        found->dock->raise();
    }
    return true;
}

void PanelDocks::setOpen(bool isOpen)
{
    for (const Entry &entry : m_entries)
        entry.action->setEnabled(isOpen);
    if (isOpen == m_isOpen)
        return;
    m_isOpen = isOpen;
    if (isOpen) {
        m_window->restoreState(m_openLayout, kLayoutVersion);
        if (m_sizesDocks)
            QTimer::singleShot(0, this, &PanelDocks::widen);
        m_sizesDocks = m_sizesDocks && !m_window->isVisible();
        return;
    }
    m_openLayout = m_window->saveState(kLayoutVersion);
    for (const Entry &entry : m_entries)
        entry.dock->hide();
}

void PanelDocks::resetLayout()
{
    m_window->restoreState(m_firstLayout, kLayoutVersion);
    m_isLow = true;
}

void PanelDocks::restoreLayout(const QByteArray &layout, bool hasShownDrawing)
{
    arrange();
    m_firstLayout = m_window->saveState(kLayoutVersion);
    m_sizesDocks = !m_window->restoreState(layout, kLayoutVersion);
    m_isLow = m_sizesDocks || !hasShownDrawing;
}

QByteArray PanelDocks::layout() const
{
    return m_isOpen ? m_window->saveState(kLayoutVersion) : m_openLayout;
}

void PanelDocks::windowShown()
{
    if (m_sizesDocks && m_isOpen)
        widen();
}

} // namespace halftone::app
