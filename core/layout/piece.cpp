#include "core/layout/piece.h"

#include <algorithm>

namespace halftone::layout {

std::size_t Piece::weight() const
{
    std::vector<std::uint32_t> row(nodes.size(), 0);
    for (std::size_t k = 0; k < edges.size();
         ++k) // sorted by `from` or not: rows only need to be about right
        row[edges[k].to] = std::max(row[edges[k].to], row[edges[k].from] + 1);
    std::size_t sum = nodes.size();
    for (const Edge &edge : edges)
        sum += row[edge.to] > row[edge.from] ? row[edge.to] - row[edge.from] : 1;
    return sum;
}

void tidy(const Piece &piece, PieceLayout &layout)
{
    double left = 0;
    double top = 0;
    bool any = false;
    const auto include = [&](double x, double y) {
        left = any ? std::min(left, x) : x;
        top = any ? std::min(top, y) : y;
        any = true;
    };
    for (const Rect &rect : layout.nodes)
        include(rect.x, rect.y);
    for (const Polyline &line : layout.edges)
        for (const Point &point : line)
            include(point.x, point.y);

    layout.size = {};
    for (Rect &rect : layout.nodes) {
        rect.x -= left;
        rect.y -= top;
        layout.size.width = std::max(layout.size.width, rect.right());
        layout.size.height = std::max(layout.size.height, rect.bottom());
    }
    for (std::size_t k = 0; k < layout.edges.size(); ++k) {
        Polyline &line = layout.edges[k];
        for (Point &point : line) {
            point.x -= left;
            point.y -= top;
            layout.size.width = std::max(layout.size.width, point.x);
            layout.size.height = std::max(layout.size.height, point.y);
        }
        if (line.size() >= 2) {
            line.front().y = layout.nodes[piece.edges[k].from].bottom();
            line.back().y = layout.nodes[piece.edges[k].to].y;
        }
    }
}

} // namespace halftone::layout
