#include "app/focus_walk.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QDockWidget>
#include <QMainWindow>
#include <QStatusBar>
#include <QTabBar>

#include <algorithm>

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

FocusWalk::FocusWalk(QMainWindow *window, std::function<QWidget *()> centreFocus)
    : m_window(window)
    , m_centreFocus(std::move(centreFocus))
{
}

int FocusWalk::rankOf(const QWidget *widget) const
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
        switch (m_window->dockWidgetArea(const_cast<QDockWidget *>(dock))) {
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
    if (m_window->statusBar()->isAncestorOf(widget))
        return Status;
    return m_window->centralWidget()->isAncestorOf(widget) ? Centre : Tools;
}

/// Not those on pages that lie behind others: their dock says that it is visible, but nothing of it is seen. Nor the tabs of
/// docks that are hidden.
std::vector<QWidget *> FocusWalk::stops() const
{
    std::vector<QWidget *> stops;
    for (QWidget *widget = m_window->nextInFocusChain(); widget != m_window;
         widget = widget->nextInFocusChain()) {
        const QDockWidget *const dock = dockOf(widget);
        const QWidget *const page = dock ? static_cast<const QWidget *>(dock) : widget;
        if (isTabStop(widget, m_window) && !page->visibleRegion().isEmpty())
            stops.push_back(widget);
    }
    std::ranges::stable_sort(stops, {}, [this](const QWidget *widget) { return rankOf(widget); });
    return stops;
}

void FocusWalk::goToPane(bool next)
{
    const auto paneOf
        = [this](const QWidget *widget) { return std::pair(widget ? rankOf(widget) : -1, dockOf(widget)); };
    std::vector<QWidget *> heads; // the first stop of each pane
    for (QWidget *stop : stops()) {
        const bool isTabs = qobject_cast<QTabBar *>(stop) != nullptr && !dockOf(stop);
        if (!isTabs && (heads.empty() || paneOf(heads.back()) != paneOf(stop)))
            heads.push_back(stop);
    }
    if (heads.empty())
        return;
    QWidget *to = neighbour(heads, std::ranges::find(heads, paneOf(m_window->focusWidget()), paneOf), next);
    const QDockWidget *const dock = dockOf(to);
    const bool isCentre = m_window->centralWidget()->isAncestorOf(to);
    if (QWidget *const proxy = isCentre ? m_centreFocus() : dock ? dock->widget()->focusProxy() : nullptr)
        to = proxy;
    m_window->setAttribute(Qt::WA_KeyboardFocusChange);
    to->setFocus(Qt::ShortcutFocusReason);
}

bool FocusWalk::goToNext(bool next)
{
    const std::vector<QWidget *> all = stops();
    if (all.empty())
        return false;
    m_window->setAttribute(Qt::WA_KeyboardFocusChange);
    neighbour(all, std::ranges::find(all, m_window->focusWidget()), next)
        ->setFocus(next ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    return true;
}

} // namespace halftone::app
