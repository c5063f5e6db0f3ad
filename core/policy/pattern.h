#pragma once

#include "core/base/result.h"

#include <memory>
#include <string_view>

namespace re2 {
class RE2;
}

namespace halftone::policy {

/// A regular expression that is searched for in names, by RE2 (github.com/google/re2/wiki/Syntax), in time linear in the name. Case counts
/// unless the pattern begins with `(?i)`, `.` is any character, and `^` and `$` are the ends of the name. Text that is not UTF-8 is matched
/// byte by byte.
class Pattern
{
public:
    static constexpr std::size_t kMostBytes = 4096; ///< of a pattern's text

    /// Reads the text between the slashes of `/…/`.
    /// before  characters in front of it where a person typed it: places of errors are counted from there
    /// fails: Errc::BadInput; `where` is "character N" (from 1), for a pattern that is malformed or too long
    static Result<Pattern> compile(std::string_view text, std::size_t before = 0);

    bool matches(std::string_view name) const;

private:
    std::shared_ptr<const re2::RE2> m_expression;
};

/// Characters of UTF-8.
std::size_t characterCount(std::string_view text);

} // namespace halftone::policy
