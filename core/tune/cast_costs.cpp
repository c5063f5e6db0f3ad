#include "core/tune/cast_costs.h"

#include <algorithm>
#include <vector>

namespace halftone::tune {
namespace {

/// Needs: some
double medianOf(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    if (values.size() % 2 != 0)
        return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

} // namespace

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
    CastCosts costs;
    std::vector<double> distances;
    if (!slopes.empty()) {
        costs.perElement = std::max(0.0, medianOf(slopes));
        for (const CastTime &time : times)
            distances.push_back(time.microseconds - costs.perElement * time.elements);
        costs.each = medianOf(distances);
    }
    if (!slopes.empty() && costs.each >= 0)
        return costs;
    for (const CastTime &time : times)
        distances.push_back(time.microseconds / time.elements);
    return {0, medianOf({distances.end() - static_cast<std::ptrdiff_t>(times.size()), distances.end()})};
}

} // namespace halftone::tune
