#pragma once

#include <QObject>
#include <QPointer>

class QWidget;

namespace halftone::app {

/// Rings what has the keyboard where the widget shows nothing by itself: views, plots, tool buttons, links. Only after a key has moved the focus:
/// who clicks knows where.
class FocusMark : public QObject
{
    Q_OBJECT

public:
    explicit FocusMark(QObject *parent = nullptr);
    ~FocusMark() override;

private:
    void follow(QWidget *now);

    QPointer<QWidget> m_ring; ///< a child of what has the focus
};

/// Whether `widget` shows by itself that it has the keyboard: fields, boxes, raised buttons, tabs.
bool showsItsFocus(const QWidget *widget);

} // namespace halftone::app
