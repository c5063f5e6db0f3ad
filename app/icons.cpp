#include "app/icons.h"

#include <QPainter>
#include <QPainterPath>
#include <QPixmap>

namespace halftone::app {
namespace {

constexpr double kGrid = 24; ///< glyphs are drawn on 24 × 24 units
constexpr double kPen = 1.75;

/// An arrow that bends back to the left: undo. Mirrored: redo.
QPainterPath bentArrow()
{
    QPainterPath path;
    path.moveTo(9, 5);
    path.lineTo(4, 10);
    path.lineTo(9, 15);
    path.moveTo(4.5, 10);
    path.lineTo(14, 10);
    path.arcTo(QRectF(9, 10, 10, 9), 90, -180);
    path.lineTo(11, 19);
    return path;
}

QPainterPath pathOf(Glyph glyph)
{
    QPainterPath path;
    switch (glyph) {
    case Glyph::Open:
        path.moveTo(3.5, 18.5);
        path.lineTo(3.5, 6);
        path.lineTo(9.5, 6);
        path.lineTo(11.5, 8.5);
        path.lineTo(18.5, 8.5);
        path.lineTo(18.5, 11);
        path.moveTo(3.5, 18.5);
        path.lineTo(6.5, 11);
        path.lineTo(21.5, 11);
        path.lineTo(18.5, 18.5);
        path.closeSubpath();
        break;
    case Glyph::Save:
        path.moveTo(4.5, 4.5);
        path.lineTo(16.5, 4.5);
        path.lineTo(19.5, 7.5);
        path.lineTo(19.5, 19.5);
        path.lineTo(4.5, 19.5);
        path.closeSubpath();
        path.addRect(8, 13, 8, 6.5);
        path.moveTo(8, 4.5);
        path.lineTo(8, 8.5);
        path.lineTo(14.5, 8.5);
        path.lineTo(14.5, 4.5);
        break;
    case Glyph::Undo:
        return bentArrow();
    case Glyph::Redo:
        return QTransform(-1, 0, 0, 1, kGrid, 0).map(bentArrow());
    case Glyph::Stop:
        path.addRoundedRect(6.5, 6.5, 11, 11, 1.5, 1.5);
        break;
    case Glyph::Play:
        path.moveTo(7.5, 5);
        path.lineTo(18.5, 12);
        path.lineTo(7.5, 19);
        path.closeSubpath();
        break;
    }
    return path;
}

QPixmap drawn(const QPainterPath &path, const QColor &colour, int size)
{
    QPixmap pixmap(size, size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(size / kGrid, size / kGrid);
    painter.setPen(QPen(colour, kPen, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.drawPath(path);
    return pixmap;
}

} // namespace

QIcon lineIcon(Glyph glyph, const QPalette &palette)
{
    const QPainterPath path = pathOf(glyph);
    QIcon icon;
    for (const int size : {16, 20, 24, 32, 48, 64}) {
        icon.addPixmap(drawn(path, palette.color(QPalette::Active, QPalette::ButtonText), size),
                       QIcon::Normal);
        icon.addPixmap(drawn(path, palette.color(QPalette::Disabled, QPalette::ButtonText), size),
                       QIcon::Disabled);
    }
    return icon;
}

} // namespace halftone::app
