#pragma once

#include "core/layout/geometry.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace halftone::layout {

/// From one x to another.
struct Span
{
    double from = 0;
    double to = 0;

    double width() const { return to - from; }
    bool overlaps(const Span &other) const { return from < other.to && other.from < to; }

    bool operator==(const Span &) const = default;
};

/// Where a straight line is between two heights; nothing where it stays above or below.
std::optional<Span> crossingOf(const Point &begin, const Point &end, double top, double bottom);

/// Adds what parts of a row a line runs through.
/// at  gives the k-th of its points
template <class PointAt>
void addCrossings(const Rect &row, std::size_t points, PointAt at, std::vector<Span> &spans)
{
    for (std::size_t k = 1; k < points; ++k) {
        const auto span = crossingOf(at(k - 1), at(k), row.y, row.bottom());
        if (span && span->to >= row.x && span->from <= row.right())
            spans.push_back(*span);
    }
}

/// Where a frame's title stands, and what is told after it.
struct TitlePlaces
{
    Span title;
    Span detail; ///< empty where there is no room
    bool isTitleCrossed = false; ///< no place was free: a line runs through it
    bool isDetailCrossed = false;
};

/// One row of a frame for texts of two widths: each goes to the first place from the left that has room for it between the
/// lines that cross the row, the detail behind the title.
///
/// gap  between the two; half of it to a line
TitlePlaces placeTitle(const Span &row, std::vector<Span> crossed, double title, double detail, double gap);

} // namespace halftone::layout
