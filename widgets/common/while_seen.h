#pragma once

#include <QObject>

#include <functional>

class QWidget;

namespace halftone::widgets {

/// Whether a person can see some part of a widget. A dock behind a tab counts as visible for Qt, which moves it out of its window. A
/// window that nobody has shown or hidden yet counts as seen.
bool isInSight(const QWidget *widget);

/// Work for a widget that is put off while nobody can see it: behind a tab, in a closed dock, in a minimised window.
class WhileSeen : public QObject
{
public:
    /// work  may ask again
    WhileSeen(QWidget *widget, std::function<void()> work);

    /// Works now, or once when the widget comes into sight.
    void ask();
    void defer() { m_isBehind = true; } ///< until the widget comes into sight
    /// Works now if it was put off: somebody wants to read what the widget would show.
    void catchUp();
    bool isBehind() const { return m_isBehind; } ///< work was put off

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void watch();
    void work();

    QWidget *m_widget;
    std::function<void()> m_work;
    bool m_isBehind = false;
};

} // namespace halftone::widgets
