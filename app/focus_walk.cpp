#include "app/main_window.h"
#include "widgets/graphview/graph_view.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QDockWidget>
#include <QKeyEvent>
#include <QStatusBar>
#include <QTabBar>
#include <QToolBar>

#include <algorithm>

/// The way of the keyboard through the window.
namespace halftone::app {
namespace {

/// Of buttons of which one is pressed, that one: the arrows lead to the others.
bool takesTab(const QWidget *widget)
{
    const auto *const button = qobject_cast<const QAbstractButton *>(widget);
    if (button && button->isCheckable() && (button->autoExclusive() || button->group()))
        return button->focusPolicy() != Qt::NoFocus && button->isChecked();
    return (widget->focusPolicy() & Qt::TabFocus) != 0;
}

bool isTabStop(const QWidget *widget, const QWidget *window)
{
    return takesTab(widget) && widget->isEnabled() && !widget->focusProxy() && !widget->isWindow()
        && widget->window() == window && widget->isVisibleTo(window);
}

const QDockWidget *dockOf(const QWidget *widget)
{
    while (widget && !qobject_cast<const QDockWidget *>(widget))
        widget = widget->parentWidget();
    return static_cast<const QDockWidget *>(widget);
}

/// The one behind or before `now`, round and round; from the end of `ring`, which is not empty, its first or last one.
QWidget *neighbour(const std::vector<QWidget *> &ring, std::vector<QWidget *>::const_iterator now, bool next)
{
    const auto count = static_cast<std::ptrdiff_t>(ring.size());
    const std::ptrdiff_t from = now == ring.end() ? (next ? -1 : 0) : now - ring.begin();
    return ring[static_cast<std::size_t>((from + (next ? 1 : count - 1)) % count)];
}

} // namespace

/// Tool bar, graph, docks from the left, the tabs over a row of pages, status bar.
int MainWindow::focusRank(const QWidget *widget) const
{
    enum Rank
    {
        Tools,
        Centre,
        Left,
        Right,
        Top,
        BottomTabs,
        Bottom,
        Status
    };
    if (const QDockWidget *const dock = dockOf(widget)) {
        switch (dockWidgetArea(const_cast<QDockWidget *>(dock))) {
        case Qt::LeftDockWidgetArea:
            return Left;
        case Qt::RightDockWidgetArea:
            return Right;
        case Qt::TopDockWidgetArea:
            return Top;
        default:
            return Bottom;
        }
    }
    if (qobject_cast<const QTabBar *>(widget))
        return BottomTabs;
    if (statusBar()->isAncestorOf(widget))
        return Status;
    return centralWidget()->isAncestorOf(widget) ? Centre : Tools;
}

/// Not those on pages that lie behind others: their dock says that it is visible, but nothing of it is seen. Nor the tabs of
/// docks that are hidden.
std::vector<QWidget *> MainWindow::tabStops() const
{
    std::vector<QWidget *> stops;
    for (QWidget *widget = nextInFocusChain(); widget != this; widget = widget->nextInFocusChain()) {
        const QDockWidget *const dock = dockOf(widget);
        const QWidget *const page = dock ? static_cast<const QWidget *>(dock) : widget;
        if (isTabStop(widget, this) && !page->visibleRegion().isEmpty())
            stops.push_back(widget);
    }
    std::ranges::stable_sort(stops, {}, [this](const QWidget *widget) { return focusRank(widget); });
    return stops;
}

/// To the tool bar, the graph, or the next panel: to what a panel is about, else to the first in it.
void MainWindow::goToPane(bool next)
{
    const std::vector<QWidget *> stops = tabStops();
    const auto paneOf = [this](const QWidget *widget) {
        const QDockWidget *const dock = dockOf(widget);
        return std::pair(widget ? focusRank(widget) : -1, dock);
    };
    std::vector<QWidget *> heads; // the first stop of each pane
    for (QWidget *stop : stops) {
        const bool isTabs = qobject_cast<QTabBar *>(stop) != nullptr && !dockOf(stop);
        if (!isTabs && (heads.empty() || paneOf(heads.back()) != paneOf(stop)))
            heads.push_back(stop);
    }
    if (heads.empty())
        return;
    QWidget *to = neighbour(heads, std::ranges::find(heads, paneOf(focusWidget()), paneOf), next);
    if (centralWidget()->isAncestorOf(to) && m_controller.isOpen())
        to = m_graph->focusProxy();
    else if (const QDockWidget *const dock = dockOf(to); dock && dock->widget()->focusProxy())
        to = dock->widget()->focusProxy();
    setAttribute(Qt::WA_KeyboardFocusChange);
    to->setFocus(Qt::ShortcutFocusReason);
}

bool MainWindow::focusNextPrevChild(bool next)
{
    const std::vector<QWidget *> stops = tabStops();
    if (stops.empty())
        return false;
    setAttribute(Qt::WA_KeyboardFocusChange);
    neighbour(stops, std::ranges::find(stops, focusWidget()), next)
        ->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    return true;
}

/// Return presses the button that has the focus, as it does in dialogs.
void MainWindow::keyPressEvent(QKeyEvent *event)
{
    auto *const button = qobject_cast<QAbstractButton *>(focusWidget());
    if (button && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter))
        button->click();
    else
        QMainWindow::keyPressEvent(event);
}

} // namespace halftone::app
