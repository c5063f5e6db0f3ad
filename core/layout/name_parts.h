#pragma once

#include <cstddef>
#include <string_view>

namespace halftone::layout {

inline bool isSeparator(char c)
{
    return c == '_' || c == '/' || c == '.' || c == ':';
}

inline bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// Where the part of `name` that begins at `from` ends, separators after it included; 0 when nothing follows them.
inline std::size_t endOfPart(std::string_view name, std::size_t from)
{
    std::size_t end = from;
    while (end < name.size() && isSeparator(name[end]))
        ++end;
    while (end < name.size() && !isSeparator(name[end]))
        ++end;
    while (end < name.size() && isSeparator(name[end]))
        ++end;
    return end < name.size() ? end : 0;
}

} // namespace halftone::layout
