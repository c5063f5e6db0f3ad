#pragma once

#include "widgets/graphview/camera.h"
#include "widgets/graphview/view_history.h"

#include <QObject>
#include <QSizeF>

#include <optional>

class QWidget;

namespace halftone::widgets {

/// Where the graph is looked at, and the views that a person has been at. Knows of the scene only how large it is.
class ViewNavigator : public QObject
{
    Q_OBJECT

public:
    /// viewport  in whose pixels the camera counts
    explicit ViewNavigator(const QWidget *viewport, QObject *parent = nullptr);

    const Camera &camera() const { return m_camera; }
    void setSceneSize(const QSizeF &size) { m_sceneSize = size; } ///< empty: there is none
    void setEntrance(double x) { m_entrance = x; } ///< of the scene: where the eye begins, at its top

    void moveTo(const Camera &camera); ///< and stays there, whatever size the viewport gets
    void fit(); ///< all of the scene, also in a viewport of another size
    void showFirst(); ///< all of it, or what is too much for one glance from the top
    void zoomBy(double factor);
    void turnPage(bool up);
    void centreOn(const QRectF &rect); ///< of the scene, at least as large as is legible
    void reveal(const QRectF &rect, const QSizeF &room); ///< moves no further than needed
    /// A place of the scene comes to lie under a place of the viewport.
    void pin(const QPointF &scene, const QPointF &view);
    void viewportResized();
    /// Likewise; without anything to keep to, what was in the middle stays there.
    void viewportResizedFrom(int width);

    void forgetViews() { m_history.clear(); }
    /// open  the blocks that are open now
    void remember(std::vector<char> open) { m_history.leave({std::move(open), m_camera}); }
    bool canGoBack() const { return m_history.canGoBack(); }
    bool canGoForward() const { return m_history.canGoForward(); }
    /// The view to go to, for which the present one is remembered; nothing when there is none.
    std::optional<View> goBack(std::vector<char> open);
    std::optional<View> goForward(std::vector<char> open);

Q_SIGNALS:
    void moved(const halftone::widgets::Camera &camera);

private:
    /// What is kept to when the viewport's size changes.
    enum class Keep
    {
        Nothing,
        Fitted,
        First, ///< as a model is first shown
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
