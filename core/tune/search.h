#pragma once

#include "core/tune/oracle.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

namespace halftone::tune {

/// How good a network has to be.
struct Limit
{
    enum class Metric : std::uint8_t
    {
        Sqnr, ///< at least so many decibels at the outputs
        Top1 ///< top-1 accuracy falls by no more than `-value` points of a hundred
    };
    Metric metric = Metric::Sqnr;
    double value = 0; ///< 30 (dB); -0.5 (points)

    bool holdsFor(const Measurement &measured) const;
};

struct SearchSettings
{
    std::optional<Limit> limit; ///< nothing: the whole front
    /// With a limit: one network is asked for, not a front. Where the fastest that the sums of times allow meets the limit, or with a limit of
    /// accuracy one of the next, nothing is left to find, and errors of groups alone, most of a search, are not asked for.
    bool onlyFastest = false;
    std::optional<std::chrono::duration<double>> time; ///< after which no further measurement begins
    std::size_t points
        = 8; ///< of the hull that are measured, at most: those that add most to what is dominated
    std::size_t trials = 10; ///< of repair; those that miss the limit teach what the sums are wrong about
};

/// Is told what is known after each step; called by the thread that searches.
using Told = std::function<void(const Front &)>;

/// Searches for the labels that lose least for the time they take: errors of groups alone, the hull of their sums, points
/// of it measured, then what nextTrial() says (core/tune/RULES.md, T-search). Stopped, or out of time, it gives what
/// it has: Front::stoppedBy says which.
/// fails: what the oracle refuses; Cancelled before anything was measured
Result<Front> search(Oracle &oracle, const SearchSettings &settings, const Progress &progress = {},
                     const Told &told = {});

/// The point of `front.best()` that people mean; nothing where none is.
/// FastestWithin  the fastest that meets the limit (without one: all do)
/// Knee           where the front bends most: farthest from the line between its ends, both axes as shares of their lengths
enum class Pick : std::uint8_t
{
    FastestWithin,
    Knee
};
std::optional<std::size_t> pick(const Front &front, Pick wanted, const std::optional<Limit> &limit);

} // namespace halftone::tune
