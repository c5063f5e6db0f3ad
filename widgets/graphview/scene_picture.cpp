#include "widgets/graphview/scene_picture.h"

#include <QPainter>
#include <QWidget>

#include <cmath>

namespace halftone::widgets {
namespace {

constexpr std::size_t kLabelsAFrame = 150; ///< laid out anew: each takes some tens of microseconds

} // namespace

bool ScenePicture::update(const QWidget &view, ScenePainter &painter, const PaintInput &input,
                          const Camera &camera)
{
    Drawing drawing{view, painter, input};
    const double ratio = view.devicePixelRatioF();
    const QSize wanted = view.size() * ratio;
    const bool isPlain = painter.isPlainIn(view.rect(), camera, *input.scene);
    if (m_pixels.size() == wanted && m_camera.scale == camera.scale && m_isPlain == isPlain
        && move(drawing, camera))
        return drawing.isComplete;
    if (m_pixels.size() != wanted)
        m_pixels = QPixmap(wanted);
    m_pixels.setDevicePixelRatio(ratio);
    m_camera = camera;
    m_isPlain = isPlain;
    drawPart(drawing, view.rect());
    return drawing.isComplete;
}

/// Of a picture of the same scale what stays in the view is moved by whole pixels, and the rest drawn. false: nothing stays.
bool ScenePicture::move(Drawing &drawing, const Camera &camera)
{
    const double ratio = m_pixels.devicePixelRatio();
    const QPointF way = (camera.origin - m_camera.origin) * camera.scale * ratio;
    if (std::abs(way.x()) >= m_pixels.width() || std::abs(way.y()) >= m_pixels.height())
        return false;
    const QPoint pixels = way.toPoint();
    if (pixels.isNull())
        return true;
    m_camera.origin += QPointF(pixels) / (camera.scale * ratio);
    QRegion uncovered(m_pixels.rect());
    m_pixels.scroll(-pixels.x(), -pixels.y(), m_pixels.rect());
    uncovered -= m_pixels.rect().translated(-pixels);
    for (const QRect &part : uncovered)
        drawPart(drawing, {QPointF(part.topLeft()) / ratio, QSizeF(part.size()) / ratio});
    return true;
}

void ScenePicture::drawPart(Drawing &drawing, const QRectF &part)
{
    QPainter painter(&m_pixels);
    painter.setFont(drawing.view.font());
    painter.setClipRect(part);
    painter.fillRect(part, drawing.view.palette().color(QPalette::Base));
    drawing.painter.paint(painter, drawing.view.rect(), part, m_camera, drawing.input, kLabelsAFrame);
    drawing.isComplete = drawing.isComplete && drawing.painter.isComplete();
}

} // namespace halftone::widgets
