#include "widgets/common/drag_label.h"

#include <QPainter>
#include <QWidget>

namespace halftone::widgets {

QPixmap dragLabel(const QString &text, const QWidget &source)
{
    const QFontMetrics metrics = source.fontMetrics();
    QPixmap label(QSize(metrics.horizontalAdvance(text) + 16, metrics.height() + 8)
                  * source.devicePixelRatioF());
    label.setDevicePixelRatio(source.devicePixelRatioF());
    label.fill(source.palette().color(QPalette::Highlight));
    QPainter painter(&label);
    painter.setFont(source.font());
    painter.setPen(source.palette().color(QPalette::HighlightedText));
    painter.drawText(QRectF(QPointF(), label.deviceIndependentSize()), Qt::AlignCenter, text);
    return label;
}

} // namespace halftone::widgets
