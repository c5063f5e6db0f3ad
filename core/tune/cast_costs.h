#pragma once

#include <span>

namespace halftone::tune {

/// One conversion of a tensor's type, as it was timed.
struct CastTime
{
    double elements = 0; ///< above 0
    double microseconds = 0;
};

/// What a conversion takes: each + perElement · elements, microseconds; neither is below zero.
struct CastCosts
{
    double each = 0;
    double perElement = 0;

    double of(double elements) const { return each + perElement * elements; }
};

/// The line of the median slope between times of sizes that differ by half or more, and of the median distance from it (Theil 1950, Sen
/// 1968): a time that was disturbed does not tilt it. Of times of one size: all by the element, of which these are; of none: `guess`.
CastCosts fittedCosts(std::span<const CastTime> times, const CastCosts &guess);

} // namespace halftone::tune
