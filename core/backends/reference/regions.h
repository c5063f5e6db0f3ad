#pragma once

#include "core/base/result.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>

namespace halftone::backends::reference {

/// fails: region `r`, whose first number is its picture's, is of none of the `pictures`, or has no finite corners
template <class Real>
Result<void> needPicture(std::span<const Real> region, std::int64_t r, std::int64_t pictures)
{
    if (region[0] >= 0 && region[0] < static_cast<Real>(pictures)
        && std::ranges::all_of(region, [](Real x) { return std::abs(x) < Real(1e9); }))
        return {};
    return badInput("input 1", "region " + std::to_string(r) + " of picture " + std::to_string(region[0]),
                    "a picture from 0 to " + std::to_string(pictures - 1) + " and finite corners");
}

} // namespace halftone::backends::reference
