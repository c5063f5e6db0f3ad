#pragma once

#include <QPixmap>
#include <QWidget>

namespace halftone::widgets {

class Canvas;

/// The whole picture in a corner of its canvas, with a frame around what is seen; a click or a drag goes there. Hidden while
/// all is seen. Tall graphs are drawn wider than true, so that there is something to see.
class Minimap : public QWidget
{
    Q_OBJECT

public:
    explicit Minimap(Canvas *canvas);

    void refresh(); ///< the picture has changed
    void follow(); ///< the camera has moved
    void place(); ///< the canvas has another size
    void retire(); ///< it stays hidden: another canvas that moves in step has one
    /// Where there is little room it goes to a corner without nodes, and is hidden where there is none: it takes no node's clicks.
    void setAvoidsNodes(bool avoids);

Q_SIGNALS:
    void placeWanted(const QPointF &scene);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;

private:
    QRectF inner() const;
    QPointF toScene(const QPointF &map) const;
    void render();
    bool liesOverNodes() const;
    QPoint placeIn(Qt::Corner corner) const;
    bool findsFreePlace(); ///< and goes there; stays where it is as long as that is free

    Canvas *m_canvas;
    bool m_isRetired = false;
    bool m_avoidsNodes = false;
    bool m_isHeld = false; ///< by a mouse button: it stays, whatever comes under it
    bool m_coversNodes = false;
    QPixmap m_picture; ///< null: to be made again
};

} // namespace halftone::widgets
