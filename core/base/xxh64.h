#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone {

/// The 64-bit hash XXH64 with seed 0 (Yann Collet's specification, version 0.1.1): as quick as memory, the same number on
/// every machine, of whatever comes in pieces. Notices accidents, not malice.
class Xxh64
{
public:
    void add(std::span<const std::byte> bytes);
    std::uint64_t value() const;

private:
    static constexpr std::size_t kStripe = 32;
    static constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87U;
    static constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FU;
    static constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9U;
    static constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63U;
    static constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5U;

    static std::uint64_t round(std::uint64_t lane, std::uint64_t word);
    void addStripe(const std::byte *stripe);
    std::uint64_t merged() const;

    std::array<std::uint64_t, 4> m_lanes{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    std::array<std::byte, kStripe> m_rest{}; ///< of the last stripe, as far as it has come
    std::uint64_t m_length = 0; ///< of all that came
};

} // namespace halftone
