#include "widgets/graphview/view_navigator.h"

#include <QWidget>

#include <algorithm>

namespace halftone::widgets {
namespace {

constexpr double kFitMargin = 28;
constexpr double kLegible = 0.8; ///< least scale of a node that is shown, and of a first view
constexpr double kFitAtMost = 1; ///< small graphs are not blown up
constexpr double kPage = 0.8; ///< of the viewport's height

} // namespace

ViewNavigator::ViewNavigator(const QWidget *viewport, QObject *parent)
    : QObject(parent)
    , m_viewport(viewport)
{
}

QSizeF ViewNavigator::viewport() const
{
    return m_viewport->size();
}

void ViewNavigator::set(const Camera &camera)
{
    m_camera = camera;
    Q_EMIT moved(m_camera);
}

void ViewNavigator::moveTo(const Camera &camera)
{
    m_keep = Keep::Nothing;
    set(camera);
}

void ViewNavigator::fit()
{
    if (m_sceneSize.isEmpty())
        return;
    const QSizeF room(std::max(40.0, viewport().width() - 2 * kFitMargin),
                      std::max(40.0, viewport().height() - 2 * kFitMargin));
    Camera camera;
    camera.scale = std::clamp(
        std::min({room.width() / m_sceneSize.width(), room.height() / m_sceneSize.height(), kFitAtMost}),
        Camera::kLeast, Camera::kMost);
    camera.centreOn({m_sceneSize.width() / 2, m_sceneSize.height() / 2}, viewport());
    set(camera);
    m_keep = Keep::Fitted;
}

void ViewNavigator::showFirst()
{
    fit();
    if (!m_sceneSize.isEmpty() && m_camera.scale < kLegible) {
        Camera camera;
        camera.scale = kLegible;
        // A scene that is wider than the viewport begins where its first boxes are.
        const bool isWide = m_sceneSize.width() * kLegible > viewport().width() - 2 * kFitMargin;
        const double middle = m_sceneSize.width() / 2;
        camera.centreOn({isWide ? m_entrance.value_or(middle) : middle, 0}, viewport());
        camera.origin.setY(-kFitMargin / kLegible);
        set(camera);
    }
    m_keep = Keep::First;
}

void ViewNavigator::zoomBy(double factor)
{
    Camera camera = m_camera;
    camera.zoomAt(QRectF(QPointF(), viewport()).center(), camera.scale * factor);
    moveTo(camera);
}

void ViewNavigator::turnPage(bool up)
{
    Camera camera = m_camera;
    camera.origin.ry() += (up ? -kPage : kPage) * viewport().height() / camera.scale;
    camera.keepInSight(m_sceneSize, viewport());
    set(camera);
}

void ViewNavigator::centreOn(const QRectF &rect)
{
    Camera camera = m_camera;
    camera.scale = std::max(camera.scale, kLegible);
    camera.centreOn(rect.center(), viewport());
    moveTo(camera);
}

void ViewNavigator::reveal(const QRectF &rect, const QSizeF &room)
{
    const QRectF seen = m_camera.toView(rect);
    const QRectF inner = QRectF(QPointF(), room).adjusted(kFitMargin, kFitMargin, -kFitMargin, -kFitMargin);
    const QPointF shift(seen.right() > inner.right() ? seen.right() - inner.right()
                                                     : std::min(0.0, seen.left() - inner.left()),
                        seen.bottom() > inner.bottom() ? seen.bottom() - inner.bottom()
                                                       : std::min(0.0, seen.top() - inner.top()));
    if (shift.isNull())
        return;
    Camera camera = m_camera;
    camera.origin += shift / camera.scale;
    moveTo(camera);
}

void ViewNavigator::pin(const QPointF &scene, const QPointF &view)
{
    Camera camera = m_camera;
    camera.origin = scene - view / camera.scale;
    set(camera);
}

void ViewNavigator::viewportResized()
{
    if (m_keep == Keep::First)
        showFirst();
    else if (m_keep == Keep::Fitted)
        fit();
}

void ViewNavigator::viewportResizedFrom(int width)
{
    if (m_keep != Keep::Nothing)
        return viewportResized();
    Camera camera = m_camera;
    camera.origin.rx() += (width - viewport().width()) / (2 * camera.scale);
    set(camera);
}

std::optional<View> ViewNavigator::goBack(std::vector<char> open)
{
    if (!canGoBack())
        return std::nullopt;
    return m_history.goBack({std::move(open), m_camera});
}

std::optional<View> ViewNavigator::goForward(std::vector<char> open)
{
    if (!canGoForward())
        return std::nullopt;
    return m_history.goForward({std::move(open), m_camera});
}

} // namespace halftone::widgets
