#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace halftone::layout {

/// What is left out of a name that is too long: the characters [first, last).
struct NameCut
{
    std::size_t first = 0;
    std::size_t last = 0;

    bool operator==(const NameCut &) const = default;
};

/// The cut that leaves `kept` characters: no number is cut that can stay whole ("layers.17…q_proj"), since it tells which of many parts
/// is meant; of such cuts the one after which about a third of what is kept stands before it, as ends tell more than beginnings.
///
/// isDigit  by character
/// Needs: kept at most the number of characters
NameCut nameCut(std::span<const char> isDigit, std::size_t kept);

/// A UTF-8 text of at most so many characters, "…" among them where something had to be left out.
std::string cutName(const std::string &name, std::size_t most);

} // namespace halftone::layout
