#include "core/base/sha1.h"

#include "core/base/hex.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace halftone {
namespace {

constexpr std::size_t kBlock = 64; ///< bytes
constexpr std::size_t kLength = 8; ///< bytes of the length that ends the last block

using Digest = std::array<std::uint32_t, 5>;

std::uint32_t wordAt(const std::byte *bytes)
{
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < sizeof(word); ++k)
        word = word << 8 | std::to_integer<std::uint32_t>(bytes[k]);
    return word;
}

void addBlock(const std::byte *block, Digest &digest)
{
    std::array<std::uint32_t, 80> words;
    for (std::size_t k = 0; k < 16; ++k)
        words[k] = wordAt(block + 4 * k);
    for (std::size_t k = 16; k < words.size(); ++k)
        words[k] = std::rotl(words[k - 3] ^ words[k - 8] ^ words[k - 14] ^ words[k - 16], 1);
    auto [a, b, c, d, e] = digest;
    for (std::size_t k = 0; k < words.size(); ++k) {
        const std::uint32_t mixed = k < 20 ? ((b & c) | (~b & d)) + 0x5A827999U
            : k < 40                       ? (b ^ c ^ d) + 0x6ED9EBA1U
            : k < 60                       ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDCU
                                           : (b ^ c ^ d) + 0xCA62C1D6U;
        const std::uint32_t next = std::rotl(a, 5) + mixed + e + words[k];
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
    digest = {digest[0] + a, digest[1] + b, digest[2] + c, digest[3] + d, digest[4] + e};
}

} // namespace

std::string sha1(std::span<const std::byte> bytes)
{
    Digest digest{0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U, 0xC3D2E1F0U};
    const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
    for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock))
        addBlock(bytes.data(), digest);
    std::array<std::byte, 2 * kBlock> end{};
    std::ranges::copy(bytes, end.begin());
    end[bytes.size()] = std::byte{0x80};
    const std::size_t size = bytes.size() + 1 + kLength <= kBlock ? kBlock : 2 * kBlock;
    for (std::size_t k = 0; k < kLength; ++k)
        end[size - 1 - k] = static_cast<std::byte>(bits >> 8 * k & 0xFF);
    for (std::size_t at = 0; at < size; at += kBlock)
        addBlock(end.data() + at, digest);
    std::string text;
    for (const std::uint32_t word : digest)
        text += hexDigits(word, 8);
    return text;
}

} // namespace halftone
