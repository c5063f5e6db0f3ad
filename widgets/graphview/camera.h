#pragma once

#include <QPointF>
#include <QRectF>

#include <algorithm>

namespace halftone::widgets {

/// Which part of the scene a view shows. View coordinates are the widget's pixels.
struct Camera
{
    /// At which ten thousand nodes, one above the other, are seen as a whole.
    static constexpr double kLeast = 0.0001;
    static constexpr double kMost = 4;
    static constexpr double kInSight = 80; ///< pixels of the scene that stay in the view

    double scale = 1;
    QPointF origin; ///< of the view, in the scene

    QPointF toView(const QPointF &scene) const { return (scene - origin) * scale; }
    QPointF toScene(const QPointF &view) const { return view / scale + origin; }
    QRectF toView(const QRectF &scene) const { return {toView(scene.topLeft()), scene.size() * scale}; }
    QRectF toScene(const QRectF &view) const { return {toScene(view.topLeft()), view.size() / scale}; }

    /// Another scale; the scene stays where it is under `view`.
    void zoomAt(const QPointF &view, double newScale)
    {
        const QPointF fixed = toScene(view);
        scale = qBound(kLeast, newScale, kMost);
        origin = fixed - view / scale;
    }
    void centreOn(const QPointF &scene, const QSizeF &view)
    {
        origin = scene - QPointF(view.width(), view.height()) / (2 * scale);
    }

    /// Moves back as far as needed for a piece of the scene to stay in the view, so that nobody gets lost beside it.
    void keepInSight(const QSizeF &scene, const QSizeF &view)
    {
        const auto bounded = [this](double at, double sceneLength, double viewLength) {
            const double piece = std::min({kInSight / scale, sceneLength, viewLength / scale});
            return qBound(piece - viewLength / scale, at, sceneLength - piece);
        };
        origin = {bounded(origin.x(), scene.width(), view.width()),
                  bounded(origin.y(), scene.height(), view.height())};
    }

    bool operator==(const Camera &) const = default;
};

} // namespace halftone::widgets
