#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace halftone {

/// SHA-1 (FIPS 180-4, section 6.1) as 40 hexadecimal digits: tells damage, and no more.
std::string sha1(std::span<const std::byte> bytes);

} // namespace halftone
