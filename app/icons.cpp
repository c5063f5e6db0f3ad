#include "app/icons.h"

#include <QApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPalette>
#include <QPixmap>

#include <algorithm>

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
    case Glyph::Close:
        path.moveTo(6.5, 6.5);
        path.lineTo(17.5, 17.5);
        path.moveTo(17.5, 6.5);
        path.lineTo(6.5, 17.5);
        break;
    case Glyph::Float:
        path.addRect(9, 5, 10, 10);
        path.moveTo(15, 15);
        path.lineTo(15, 19);
        path.lineTo(5, 19);
        path.lineTo(5, 9);
        path.lineTo(9, 9);
        break;
    }
    return path;
}

/// Draws the glyph in the colour that text on buttons has at that moment, so that icons follow the theme.
class LineIconEngine : public QIconEngine
{
public:
    explicit LineIconEngine(Glyph glyph)
        : m_glyph(glyph)
    {
    }

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State) override
    {
        const QPalette palette = QApplication::palette();
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        const double side = std::min(rect.width(), rect.height());
        painter->translate(QRectF(rect).center() - QPointF(side, side) / 2);
        painter->scale(side / kGrid, side / kGrid);
        painter->setPen(QPen(palette.color(mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active,
                                           QPalette::ButtonText),
                             kPen, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter->drawPath(pathOf(m_glyph));
        painter->restore();
    }

    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }

    QIconEngine *clone() const override { return new LineIconEngine(m_glyph); }

private:
    Glyph m_glyph;
};

} // namespace

QIcon lineIcon(Glyph glyph)
{
    return QIcon(new LineIconEngine(glyph));
}

} // namespace halftone::app
