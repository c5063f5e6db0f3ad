#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halftone::layout {

/// A stretch of a sequence that is one part over and over: `count` times `period` places from `first` on.
struct Repeat
{
    std::size_t first = 0;
    std::size_t period = 0;
    std::size_t count = 0;

    std::size_t end() const { return first + period * count; }
    bool operator==(const Repeat &) const = default;
};

/// What stands at one place of a sequence that is searched for repeats.
struct RepeatPlace
{
    std::uint64_t kind = 0; ///< equal for what counts as the same
    std::size_t operators = 0;
    std::size_t crossing = 0; ///< lines that lead past the border before this place
};

/// The parts that a sequence repeats, in order and without overlap: those that cover the most first, of the shortest period.
/// Where a stretch may be cut in several ways, parts begin where the fewest lines cross. A part has four operators or more and
/// two places or more; one of fewer than eight operators comes three times or more.
std::vector<Repeat> findRepeats(std::span<const RepeatPlace> places);

} // namespace halftone::layout
