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

Q_SIGNALS:
    void placeWanted(const QPointF &scene);

protected:
    void paintEvent(QPaintEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;

private:
    QRectF inner() const;
    QPointF toScene(const QPointF &map) const;
    void render();

    Canvas *m_canvas;
    QPixmap m_picture; ///< null: to be made again
};

} // namespace halftone::widgets
