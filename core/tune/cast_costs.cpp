#include "core/tune/cast_costs.h"

#include "core/latency/latency.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace halftone::tune {

CastCosts fittedCosts(std::span<const CastTime> times, const CastCosts &guess)
{
    if (times.empty())
        return guess;
    constexpr double kApart = 1.5;
    std::vector<double> slopes;
    for (const CastTime &one : times)
        for (const CastTime &other : times)
            if (other.elements > kApart * one.elements)
                slopes.push_back((other.microseconds - one.microseconds) / (other.elements - one.elements));
    if (!slopes.empty()) {
        const double perElement = std::max(0.0, latency::quantile(std::move(slopes), 0.5));
        std::vector<double> distances;
        for (const CastTime &time : times)
            distances.push_back(time.microseconds - perElement * time.elements);
        if (const double each = latency::quantile(std::move(distances), 0.5); each >= 0)
            return {each, perElement};
    }
    std::vector<double> perElement;
    for (const CastTime &time : times)
        perElement.push_back(time.microseconds / time.elements);
    return {0, latency::quantile(std::move(perElement), 0.5)};
}

} // namespace halftone::tune
