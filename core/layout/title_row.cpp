#include "core/layout/title_row.h"

#include <algorithm>

namespace halftone::layout {
namespace {

/// What of a row nothing crosses, from the left.
std::vector<Span> freeSpans(const Span &row, std::vector<Span> crossed, double margin)
{
    std::ranges::sort(crossed, {}, &Span::from);
    std::vector<Span> spans;
    double from = row.from;
    for (const Span &line : crossed) {
        if (line.to + margin <= from)
            continue;
        if (line.from - margin > from)
            spans.push_back({from, std::min(line.from - margin, row.to)});
        from = line.to + margin;
    }
    if (from < row.to)
        spans.push_back({from, row.to});
    return spans;
}

/// The first free place that begins at `begin` or after it.
std::optional<Span> placeFor(double width, double begin, const std::vector<Span> &spans)
{
    for (const Span &span : spans) {
        const double from = std::max(span.from, begin);
        if (span.to - from >= width)
            return Span{from, from + width};
    }
    return std::nullopt;
}

} // namespace

std::optional<Span> crossingOf(const Point &begin, const Point &end, double top, double bottom)
{
    const Point &upper = begin.y <= end.y ? begin : end;
    const Point &lower = begin.y <= end.y ? end : begin;
    if (lower.y < top || upper.y > bottom)
        return std::nullopt;
    const auto at = [&](double y) {
        const double height = lower.y - upper.y;
        return height > 0 ? upper.x + (lower.x - upper.x) * (y - upper.y) / height : upper.x;
    };
    const double first = at(std::max(top, upper.y));
    const double last = lower.y > upper.y ? at(std::min(bottom, lower.y)) : lower.x;
    return Span{std::min(first, last), std::max(first, last)};
}

TitlePlaces placeTitle(const Span &row, std::vector<Span> crossed, double title, double detail, double gap)
{
    const std::vector<Span> spans = freeSpans(row, std::move(crossed), gap / 2);
    TitlePlaces places;
    const auto free = placeFor(title, row.from, spans);
    places.isTitleCrossed = !free;
    places.title = free.value_or(Span{row.from, std::min(row.from + title, row.to)});
    const double behind = places.title.to + gap;
    if (const auto place = placeFor(detail, behind, spans)) {
        places.detail = *place;
    } else {
        places.detail = {std::min(behind, row.to), std::min(behind + detail, row.to)};
        places.isDetailCrossed
            = places.detail.width() > 0 && std::ranges::none_of(spans, [&places](const Span &span) {
                  return span.from <= places.detail.from && span.to >= places.detail.to;
              });
    }
    return places;
}

} // namespace halftone::layout
