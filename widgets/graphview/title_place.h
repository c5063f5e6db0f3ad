#pragma once

#include <QRectF>

#include <algorithm>
#include <optional>
#include <span>

namespace halftone::widgets {

/// Where a title of a size has room along the top of `row` without lying over anything that is `taken`: at the left, the right or
/// in the middle. Nothing where there is no such place.
inline std::optional<QRectF> placeOfTitle(const QRectF &row, const QSizeF &size,
                                          std::span<const QRectF> taken)
{
    const double room = row.width() - size.width();
    for (const double left : {row.left(), row.left() + room, row.left() + room / 2}) {
        const QRectF place(QPointF(left, row.top()), size);
        if (room >= 0
            && std::ranges::none_of(taken, [&place](const QRectF &one) { return one.intersects(place); }))
            return place;
    }
    return std::nullopt;
}

} // namespace halftone::widgets
