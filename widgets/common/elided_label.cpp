#include "widgets/common/elided_label.h"

#include "widgets/common/precision_palette.h"
#include "widgets/common/short_names.h"

#include <QHelpEvent>
#include <QPainter>
#include <QStyle>
#include <QToolTip>

#include <algorithm>

namespace halftone::widgets {

ElidedLabel::ElidedLabel(QWidget *parent, Holds holds)
    : QLabel(parent)
    , m_holds(holds)
{
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
}

void ElidedLabel::setWarnsFrom(qsizetype place)
{
    if (place == m_warnsFrom)
        return;
    m_warnsFrom = place;
    update();
}

QSize ElidedLabel::minimumSizeHint() const
{
    return {0, QLabel::minimumSizeHint().height()};
}

QString ElidedLabel::shown(int width) const
{
    return m_holds == Holds::Name ? cutInMiddle(text(), width, fontMetrics())
                                  : fontMetrics().elidedText(text(), Qt::ElideRight, width);
}

void ElidedLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    QRect room = contentsRect();
    const QString text = shown(room.width());
    const qsizetype plainEnd = m_warnsFrom == kNowhere ? text.size() : std::min(m_warnsFrom, text.size());
    const QString plain = text.left(plainEnd);
    style()->drawItemText(&painter, room, static_cast<int>(alignment()), palette(), isEnabled(), plain,
                          foregroundRole());
    if (plainEnd == text.size())
        return;
    room.setLeft(room.left() + fontMetrics().horizontalAdvance(plain));
    QPalette warning = palette();
    warning.setColor(foregroundRole(), warningColour(palette()));
    style()->drawItemText(&painter, room, static_cast<int>(alignment()), warning, isEnabled(),
                          text.mid(plainEnd), foregroundRole());
}

bool ElidedLabel::event(QEvent *event)
{
    if (event->type() == QEvent::ToolTip && toolTip().isEmpty()) {
        const bool isCut = fontMetrics().horizontalAdvance(text()) > contentsRect().width();
        QToolTip::showText(static_cast<QHelpEvent *>(event)->globalPos(), isCut ? text() : QString(), this);
        return true;
    }
    return QLabel::event(event);
}

} // namespace halftone::widgets
