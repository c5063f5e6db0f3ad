#pragma once

#include "widgets/graphview/scene_picture.h"

#include <QElapsedTimer>
#include <QPixmap>
#include <QWidget>

#include <memory>
#include <optional>

class QTimer;
class QVariantAnimation;

namespace halftone::widgets {

class Minimap;

/// One picture of the graph with mouse and keys. It owns no state of the model: the view gives it what to draw and is told
/// by signals what a person wants. Two canvases that share a camera move in step.
class Canvas : public QWidget
{
    Q_OBJECT

public:
    explicit Canvas(QWidget *parent = nullptr);
    ~Canvas() override;

    /// What is drawn from now on.
    void setInput(const PaintInput &input);
    const PaintInput &input() const { return m_input; }
    /// What stands here while there is nothing to draw.
    void setMessage(const QString &text);
    void setCaption(const QString &text); ///< in a corner: which side this is

    const Camera &camera() const { return m_camera; }
    void setCamera(const Camera &camera);
    /// Draws now, over the new picture, what was there before, and lets it vanish within `ms`.
    void fadeFromPresent(int ms);
    bool isFading() const { return !m_before.isNull(); }
    /// Draws a ring around an item for a moment, so that the eye finds it.
    void mark(ItemIndex item);
    ItemIndex marked() const { return m_marked; }
    /// The item that the mouse is over, here or in another panel: a thin ring.
    void setHovered(ItemIndex item);
    ItemIndex hovered() const { return m_hovered; }
    Minimap *minimap() const { return m_minimap; }
    /// Draws as on screen into any painter.
    void paintOn(QPainter &painter, const QRectF &area, const Camera &camera);
    /// While one zooms and pans, labels come some at a time: are all there?
    bool isComplete() const { return !m_painter || (m_painter->isComplete() && !m_painter->isZooming()); }

Q_SIGNALS:
    void cameraMoved(const halftone::widgets::Camera &camera); ///< by a person
    void itemClicked(halftone::widgets::ItemIndex item, Qt::KeyboardModifiers modifiers);
    void portsClicked(halftone::widgets::ItemIndex item,
                      const QPoint &globalPos); ///< the names above its box
    void itemDoubleClicked(halftone::widgets::ItemIndex item);
    void itemHovered(halftone::widgets::ItemIndex item); ///< kNoItem: none any more
    void groundClicked();
    void bandSelected(const QRectF &area, bool adds); ///< in the scene
    void keyWanted(int key, Qt::KeyboardModifiers modifiers);
    void dragWanted(halftone::widgets::ItemIndex item);
    void menuWanted(const QPoint &globalPos, halftone::widgets::ItemIndex item);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;
    bool event(QEvent *event) override;

private:
    enum class Gesture
    {
        None,
        Pressed, ///< on an item: a click or the begin of a drag
        Panning,
        Band,
    };

    ScenePainter &scenePainter();
    ItemIndex itemAt(const QPointF &view) const;
    ItemIndex portsAt(const QPointF &view) const;
    void moveCamera(Camera camera);
    void noteZoom();
    void redraw(); ///< the scene, with the next picture
    QRectF captionBox() const; ///< empty without one
    QRectF belowCaption(QRectF area) const;
    void paintCaption(QPainter &painter);
    void paintRing(QPainter &painter, ItemIndex item, int width);

    PaintInput m_input;
    std::unique_ptr<ScenePainter> m_painter; ///< made again when palette or font change
    Camera m_camera;
    Minimap *m_minimap;
    QString m_message;
    QString m_caption;
    ScenePicture m_picture;
    QPixmap m_before; ///< fading
    double m_beforeShare = 0;
    QVariantAnimation *m_fading;
    ItemIndex m_marked = kNoItem;
    ItemIndex m_hovered = kNoItem;
    QTimer *m_marking; ///< runs as long as m_marked is to be seen
    QElapsedTimer m_sinceZoom;
    QTimer *m_zooming; ///< runs from one step to another
    Gesture m_gesture = Gesture::None;
    QPointF m_pressed;
    QPointF m_last;
    ItemIndex m_pressedItem = kNoItem;
    bool m_bandAdds = false;
};

} // namespace halftone::widgets
