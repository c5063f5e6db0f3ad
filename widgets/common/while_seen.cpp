#include "widgets/common/while_seen.h"

#include <QEvent>
#include <QMetaObject>
#include <QWidget>

#include <utility>

namespace halftone::widgets {

bool isInSight(const QWidget *widget)
{
    const QWidget *const window = widget->window();
    if (!window->testAttribute(Qt::WA_WState_ExplicitShowHide))
        return true;
    if (!widget->isVisible() || window->isMinimized())
        return false;
    QRect part = widget->rect();
    for (const QWidget *at = widget; at != window; at = at->parentWidget())
        part = part.translated(at->pos()) & at->parentWidget()->rect();
    return !part.isEmpty();
}

WhileSeen::WhileSeen(QWidget *widget, std::function<void()> work)
    : QObject(widget)
    , m_widget(widget)
    , m_work(std::move(work))
{
    watch();
}

/// The widget and all that it lies in: any of them may come into sight. Those that it lay in before are left to their events, which
/// cost next to nothing.
void WhileSeen::watch()
{
    for (QWidget *at = m_widget; at; at = at->isWindow() ? nullptr : at->parentWidget())
        at->installEventFilter(this); // once, however often it is asked for
}

void WhileSeen::ask()
{
    if (isInSight(m_widget))
        work();
    else
        defer();
}

void WhileSeen::catchUp()
{
    if (m_isBehind)
        work();
}

void WhileSeen::work()
{
    m_isBehind = false;
    m_work();
}

bool WhileSeen::eventFilter(QObject *watched, QEvent *event)
{
    switch (event->type()) {
    case QEvent::ParentChange:
        watch();
        break;
    case QEvent::Show:
        if (watched == m_widget && m_isBehind && isInSight(m_widget))
            work();
        break;
    case QEvent::Move:
    case QEvent::Resize:
    case QEvent::WindowStateChange:
        // When the layout is done, and still before anything is painted.
        if (m_isBehind && isInSight(m_widget))
            QMetaObject::invokeMethod(
                this, [this] { catchUp(); }, Qt::QueuedConnection);
        break;
    default:
        break;
    }
    return QObject::eventFilter(watched, event);
}

} // namespace halftone::widgets
