#pragma once

#include "core/layout/geometry.h"

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
