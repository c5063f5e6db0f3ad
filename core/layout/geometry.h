#pragma once

#include <vector>

/// Lengths are in points of the drawing (a pixel at 100 %); x grows to the right, y downward.
namespace halftone::layout {

struct Point
{
    double x = 0;
    double y = 0;

    bool operator==(const Point &) const = default;
};

struct Size
{
    double width = 0;
    double height = 0;

    bool operator==(const Size &) const = default;
};

struct Rect
{
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;

    double right() const { return x + width; }
    double bottom() const { return y + height; }
    double centreX() const { return x + width / 2; }
    double centreY() const { return y + height / 2; }
    bool overlaps(const Rect &other) const
    {
        return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
    }
    bool contains(const Rect &other) const
    {
        return x <= other.x && y <= other.y && right() >= other.right() && bottom() >= other.bottom();
    }

    bool operator==(const Rect &) const = default;
};

using Polyline = std::vector<Point>;

} // namespace halftone::layout
