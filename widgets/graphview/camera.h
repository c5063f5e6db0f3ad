#pragma once

#include <QPointF>
#include <QRectF>

namespace halftone::widgets {

/// Which part of the scene a view shows. View coordinates are the widget's pixels.
struct Camera
{
    static constexpr double kLeast = 0.002;
    static constexpr double kMost = 4;

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

    bool operator==(const Camera &) const = default;
};

} // namespace halftone::widgets
