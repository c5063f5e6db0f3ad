#pragma once

#include "core/base/result.h"

#include <bitset>
#include <cstdint>
#include <string_view>
#include <vector>

namespace halftone::policy {

/// A search pattern over names, matched in time linear in name × pattern: all states are advanced together,
/// so no text makes it slow. Bytes are compared, letters by case.
///
/// Knows: literals, `.` (any byte), `[a-z_]` and `[^…]`, `*`, `+`, `?`, `|`, `( )`, the anchors `^` and `$`,
/// and behind `\` one of d D w W s S or a sign that would otherwise mean something (`\.`, `\/`). Without
/// anchors the pattern may be found anywhere in the name.
class Pattern
{
public:
    static constexpr std::size_t kMostStates = 1000;

    /// Reads the text between the slashes of `/…/`.
    /// fails: Errc::BadInput; `where` is "character N" (from 1), for a pattern that is malformed or needs
    /// more than kMostStates states.
    static Result<Pattern> compile(std::string_view text);

    /// Working memory of matches(): keep one for many calls.
    class Scratch
    {
        friend class Pattern;
        std::vector<std::uint32_t> m_current;
        std::vector<std::uint32_t> m_next;
        std::vector<std::uint32_t> m_pending;
        std::vector<std::uint64_t> m_seen; ///< per state, the step in which it was last added
        std::uint64_t m_step = 0;
    };

    bool matches(std::string_view name, Scratch &scratch) const;
    bool matches(std::string_view name) const;

private:
    friend class PatternCompiler;

    using Bytes = std::bitset<256>;
    struct State
    {
        enum class Kind : std::uint8_t { Bytes, Pass, Fork, Start, End, Match } kind = Kind::Match;
        std::uint32_t next = 0;
        std::uint32_t other = 0; ///< Fork: the second way; Bytes: index of the set
    };

    bool add(std::uint32_t state, std::size_t at, std::size_t length, std::vector<std::uint32_t> &list,
             Scratch &scratch) const;

    std::vector<State> m_states;
    std::vector<Bytes> m_sets;
    std::uint32_t m_first = 0;
};

} // namespace halftone::policy
