#pragma once

#include "widgets/graphview/camera.h"
#include "widgets/graphview/view_history.h"

#include <QObject>
#include <QSizeF>

#include <optional>

class QWidget;

namespace halftone::widgets {

/// The position of the view and the history of views. Only knows the size of the scene.
class ViewNavigator : public QObject
{
    Q_OBJECT

public:
    /// viewport  whose pixels are the unit of the camera
    explicit ViewNavigator(const QWidget *viewport, QObject *parent = nullptr);

    const Camera &camera() const { return m_camera; }
    void setSceneSize(const QSizeF &size) { m_sceneSize = size; } ///< empty: no scene
    void setEntrance(double x) { m_entrance = x; } ///< x position of the start at the top of the scene

    void moveTo(const Camera &camera); ///< and stays there when the viewport is resized
    void fit(); ///< shows the whole scene, also after a resize
    void showFirst(); ///< shows the whole scene, or its top if it is too large
    void zoomBy(double factor);
    void turnPage(bool up);
    void centreOn(const QRectF &rect); ///< part of the scene, at a legible zoom
    void reveal(const QRectF &rect, const QSizeF &room); ///< scrolls no further than necessary
    /// Moves a scene position to a viewport position.
    void pin(const QPointF &scene, const QPointF &view);
    void viewportResized();
    /// Likewise, or keeps the centre fixed if there is no anchor.
    void viewportResizedFrom(int width);

    void forgetViews() { m_history.clear(); }
    /// open  the unfolded blocks
    void remember(std::vector<char> open) { m_history.leave({std::move(open), m_camera}); }
    bool canGoBack() const { return m_history.canGoBack(); }
    bool canGoForward() const { return m_history.canGoForward(); }
    /// The view to go to; remembers the current one. Absent if there is none.
    std::optional<View> goBack(std::vector<char> open);
    std::optional<View> goForward(std::vector<char> open);

Q_SIGNALS:
    void moved(const halftone::widgets::Camera &camera);

private:
    /// What stays fixed when the viewport is resized.
    enum class Keep
    {
        Nothing,
        Fitted,
        First, ///< the initial view of a model
    };

    QSizeF viewport() const;
    void set(const Camera &camera);

    const QWidget *m_viewport;
    QSizeF m_sceneSize;
    std::optional<double> m_entrance;
    Camera m_camera;
    ViewHistory m_history;
    Keep m_keep = Keep::Nothing;
};

} // namespace halftone::widgets
