#include "core/base/xxh64.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace halftone {
namespace {

template <class Word>
Word wordAt(const std::byte *bytes)
{
    static_assert(std::endian::native == std::endian::little, "the hash is defined over little-endian words");
    Word word{};
    std::memcpy(&word, bytes, sizeof(Word));
    return word;
}

} // namespace

std::uint64_t Xxh64::round(std::uint64_t lane, std::uint64_t word)
{
    return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

void Xxh64::addStripe(const std::byte *stripe)
{
    for (std::size_t k = 0; k < m_lanes.size(); ++k)
        m_lanes[k] = round(m_lanes[k], wordAt<std::uint64_t>(stripe + k * sizeof(std::uint64_t)));
}

void Xxh64::add(std::span<const std::byte> bytes)
{
    const std::size_t held = m_length % kStripe;
    m_length += bytes.size();
    if (held > 0) {
        const auto part = bytes.first(std::min(bytes.size(), kStripe - held));
        std::ranges::copy(part, m_rest.begin() + static_cast<std::ptrdiff_t>(held));
        bytes = bytes.subspan(part.size());
        if (held + part.size() < kStripe)
            return;
        addStripe(m_rest.data());
    }
    for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe))
        addStripe(bytes.data());
    std::ranges::copy(bytes, m_rest.begin());
}

std::uint64_t Xxh64::merged() const
{
    if (m_length < kStripe)
        return kPrime5;
    std::uint64_t hash = std::rotl(m_lanes[0], 1) + std::rotl(m_lanes[1], 7) + std::rotl(m_lanes[2], 12)
        + std::rotl(m_lanes[3], 18);
    for (const std::uint64_t lane : m_lanes)
        hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
    return hash;
}

std::uint64_t Xxh64::value() const
{
    std::uint64_t hash = merged() + m_length;
    const std::byte *rest = m_rest.data();
    const std::byte *const end = rest + m_length % kStripe;
    for (; end - rest >= 8; rest += 8)
        hash = std::rotl(hash ^ round(0, wordAt<std::uint64_t>(rest)), 27) * kPrime1 + kPrime4;
    if (end - rest >= 4) {
        hash = std::rotl(hash ^ wordAt<std::uint32_t>(rest) * kPrime1, 23) * kPrime2 + kPrime3;
        rest += 4;
    }
    for (; rest != end; ++rest)
        hash = std::rotl(hash ^ std::to_integer<std::uint64_t>(*rest) * kPrime5, 11) * kPrime1;
    hash = (hash ^ (hash >> 33)) * kPrime2;
    hash = (hash ^ (hash >> 29)) * kPrime3;
    return hash ^ (hash >> 32);
}

} // namespace halftone
