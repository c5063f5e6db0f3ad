#pragma once

#include "core/tune/oracle.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

namespace halftone::tune {

/// The required accuracy.
struct Limit
{
    enum class Metric : std::uint8_t
    {
        Sqnr, ///< minimum SQNR at the outputs, in dB
        Top1 ///< top-1 accuracy drops by at most `-value` percentage points
    };
    Metric metric = Metric::Sqnr;
    double value = 0; ///< 30 (dB); -0.5 (points)

    bool holdsFor(const Measurement &measured) const;
};

struct SearchSettings
{
    std::optional<Limit> limit; ///< absent: the whole front
    /// With a limit: one model is wanted, not a front. If the fastest combination by the sum of times (or, with an accuracy limit, one of the
    /// next) meets the limit, the search ends without measuring isolated errors, which take most of the time.
    bool onlyFastest = false;
    std::optional<std::chrono::duration<double>> time; ///< no measurement starts after this time
    std::size_t points
        = 8; ///< maximum number of measured points of the hull: those that add most to the dominated area
    std::size_t trials = 10; ///< trials of the repair; those that miss the limit correct the sums
};

/// Receives the front after each step, on the searching thread.
using Told = std::function<void(const Front &)>;

/// Searches for the best trade-off of error and time: isolated errors of groups, the convex hull of their sums, measurement of points
/// on it, then the trials of nextTrial() (core/tune/RULES.md, T-search). If cancelled or out of time, it returns the front so far, with
/// the reason in Front::stoppedBy.
/// fails: errors of the oracle; Cancelled before the first measurement
Result<Front> search(Oracle &oracle, const SearchSettings &settings, const Progress &progress = {},
                     const Told &told = {});

/// The selected point of `front.best()`; absent if none qualifies.
/// FastestWithin  the fastest that meets the limit (without one: all do)
/// Knee           strongest bend of the front: the point farthest from the line between its ends, with both axes normalised
enum class Pick : std::uint8_t
{
    FastestWithin,
    Knee
};
std::optional<std::size_t> pick(const Front &front, Pick wanted, const std::optional<Limit> &limit);

} // namespace halftone::tune
