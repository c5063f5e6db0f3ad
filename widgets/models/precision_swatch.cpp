#include "widgets/models/precision_swatch.h"

#include "widgets/common/precision_palette.h"

#include <QPainter>
#include <QPixmap>

namespace halftone::widgets {

void paintPrecisionSwatch(QPainter &painter, const QRectF &field, tensor::DType type, const QPalette &palette)
{
    const PrecisionLook look = precisionLook(type, isDark(palette));
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QRectF inner = field.adjusted(0.5, 0.5, -0.5, -0.5);
    painter.setPen(look.colour);
    painter.setBrush(look.outlined ? QBrush(Qt::NoBrush) : QBrush(look.colour));
    painter.drawRoundedRect(inner, 2, 2);
    if (!look.outlined && look.pattern != Qt::SolidPattern) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(QBrush(palette.color(QPalette::Base), look.pattern));
        painter.drawRoundedRect(inner, 2, 2);
    }
    painter.restore();
}

QIcon precisionSwatch(tensor::DType type, const QPalette &palette, int side)
{
    QIcon icon;
    for (const int ratio : {1, 2}) {
        QPixmap pixmap(side * ratio, side * ratio);
        pixmap.setDevicePixelRatio(ratio);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paintPrecisionSwatch(painter, QRectF(0, 0, side, side), type, palette);
        painter.end();
        icon.addPixmap(pixmap);
        icon.addPixmap(pixmap, QIcon::Selected); // not tinted: the colour is what it says
    }
    return icon;
}

} // namespace halftone::widgets
