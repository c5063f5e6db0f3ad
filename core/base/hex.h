#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace halftone {

/// The lowest so many hexadecimal digits of a number, in lower case, with leading zeros.
inline std::string hexDigits(std::uint64_t value, std::size_t digits = 16)
{
    std::string text(digits, '0');
    for (std::size_t k = digits; k > 0; --k, value >>= 4)
        text[k - 1] = "0123456789abcdef"[value & 15];
    return text;
}

} // namespace halftone
