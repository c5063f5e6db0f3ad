#include "core/tune/search.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace halftone::tune {

bool Limit::holdsFor(const Measurement &measured) const
{
    if (!measured.isClean)
        return false;
    if (metric == Metric::Sqnr)
        return measured.sqnrDb >= value;
    return measured.top1 && measured.top1Reference
        && 100 * (*measured.top1 - *measured.top1Reference) >= value - 1e-9;
}

std::optional<std::size_t> pick(const Front &front, Pick wanted, const std::optional<Limit> &limit)
{
    std::vector<std::size_t> offered = front.best();
    if (limit)
        std::erase_if(offered, [&](std::size_t k) { return !limit->holdsFor(*front.points[k].measured); });
    if (offered.empty())
        return std::nullopt;
    if (wanted == Pick::FastestWithin)
        return *std::ranges::min_element(
            offered, {}, [&](std::size_t k) { return front.points[k].measured->milliseconds; });
    const auto at = [&](std::size_t k) {
        const Measurement &measured = *front.points[k].measured;
        return std::pair(measured.milliseconds, std::min(measured.sqnrDb, 120.0));
    };
    const auto wide = at(offered.front());
    const auto narrow = at(offered.back());
    const auto distance = [&](std::size_t k) {
        const auto [ms, db] = at(k);
        const double gained = wide.first > narrow.first ? (wide.first - ms) / (wide.first - narrow.first) : 0;
        const double kept
            = wide.second > narrow.second ? (db - narrow.second) / (wide.second - narrow.second) : 0;
        return gained + kept;
    };
    return *std::ranges::max_element(offered, {}, distance);
}

} // namespace halftone::tune
