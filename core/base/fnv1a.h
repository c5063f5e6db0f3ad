#pragma once

#include <cstdint>
#include <string_view>

namespace halftone {

/// The 64-bit hash FNV-1a (Fowler, Noll and Vo): the same number on every machine, of whatever comes in pieces. Not against
/// those who look for collisions.
class Fnv1a
{
public:
    void add(std::string_view bytes)
    {
        for (const char byte : bytes)
            m_value = (m_value ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
    }

    std::uint64_t value() const { return m_value; }

private:
    std::uint64_t m_value = 0xCBF29CE484222325U;
};

} // namespace halftone
