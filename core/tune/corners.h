#pragma once

#include "core/tune/front.h"

#include <cstddef>
#include <vector>

/// Which corners of the hull of the sums are worth a measurement.
namespace halftone::tune {

/// The one not yet measured that adds most to the area of time and decibels that measured points dominate, as far as can be
/// predicted; null where none adds enough. hull: all of it predicted, as points of the front
const Labels *mostGained(const Front &front, const std::vector<Labels> &hull);

/// Indices of the few whose errors lie next to so many decibels by the sums as they are corrected, the nearest first.
std::vector<std::size_t> nearestTo(const Front &front, const std::vector<Labels> &hull, double decibels);

} // namespace halftone::tune
