#include "core/tensor/top_classes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace halftone::tensor {

std::vector<std::size_t> topClasses(std::span<const float> scores, std::size_t number)
{
    std::vector<std::size_t> places(scores.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto isAhead = [&](std::size_t a, std::size_t b) {
        const bool aIsNaN = std::isnan(scores[a]);
        const bool bIsNaN = std::isnan(scores[b]);
        if (aIsNaN || bIsNaN)
            return aIsNaN == bIsNaN ? a < b : aIsNaN;
        return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
    };
    const std::size_t wanted = std::min(number, places.size());
    std::ranges::partial_sort(places, places.begin() + static_cast<std::ptrdiff_t>(wanted), isAhead);
    places.resize(wanted);
    return places;
}

} // namespace halftone::tensor
