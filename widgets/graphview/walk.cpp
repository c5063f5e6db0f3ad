#include "widgets/graphview/walk.h"

#include <cmath>
#include <limits>

namespace halftone::widgets {
namespace {

ItemIndex alongEdge(const Scene &scene, ItemIndex item, bool down)
{
    ItemIndex best = item;
    double least = std::numeric_limits<double>::max();
    for (const std::uint32_t index : down ? scene.edgesOutOf(item) : scene.edgesInto(item)) {
        const SceneEdge &edge = scene.edges()[index];
        const ItemIndex other = down ? edge.to : edge.from;
        const QPointF way = scene.items()[other].rect.center() - scene.items()[item].rect.center();
        const double distance = std::abs(way.y()) + 0.5 * std::abs(way.x());
        if (distance < least) {
            least = distance;
            best = other;
        }
    }
    return best;
}

ItemIndex inRow(const Scene &scene, ItemIndex item, bool right)
{
    const QRectF &own = scene.items()[item].rect;
    std::vector<ItemIndex> row;
    scene.itemsIn(QRectF(0, own.top(), scene.size().width(), own.height()), row);
    ItemIndex best = item;
    double least = std::numeric_limits<double>::max();
    for (const ItemIndex other : row) {
        const QRectF &rect = scene.items()[other].rect;
        const double distance = right ? rect.left() - own.right() : own.left() - rect.right();
        if (other != item && !scene.items()[other].isFrame && distance >= 0 && distance < least) {
            least = distance;
            best = other;
        }
    }
    return best;
}

} // namespace

ItemIndex neighbourOf(const Scene &scene, ItemIndex item, Direction direction)
{
    switch (direction) {
    case Direction::Up:
        return alongEdge(scene, item, false);
    case Direction::Down:
        return alongEdge(scene, item, true);
    case Direction::Left:
        return inRow(scene, item, false);
    case Direction::Right:
        return inRow(scene, item, true);
    }
    return item;
}

} // namespace halftone::widgets
