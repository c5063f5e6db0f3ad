#pragma once

#include "widgets/graphview/scene_painter.h"

#include <QPixmap>

class QWidget;

namespace halftone::widgets {

/// The scene as a view has drawn it last, so that what lies over it, such as the ring around what the mouse is over, changes without it, and so
/// that while one pans only what comes into sight is drawn.
class ScenePicture
{
public:
    void forget() { m_pixels = {}; } ///< it is drawn anew with the next update()
    /// Draws what is not there yet of a view of this camera. false: labels are missing in what was drawn
    bool update(const QWidget &view, ScenePainter &painter, const PaintInput &input, const Camera &camera);

    const QPixmap &pixels() const { return m_pixels; }
    const Camera &camera() const
    {
        return m_camera;
    } ///< that it shows: less than a pixel beside that of the view
    bool isPlain() const { return m_isPlain; } ///< without what is too many to be read

private:
    /// What it is drawn for and with.
    struct Drawing
    {
        const QWidget &view;
        ScenePainter &painter;
        const PaintInput &input;
        bool isComplete = true;
    };

    bool move(Drawing &drawing, const Camera &camera);
    void drawPart(Drawing &drawing, const QRectF &part);

    QPixmap m_pixels; ///< null: nothing is drawn
    Camera m_camera;
    bool m_isPlain = false;
};

} // namespace halftone::widgets
