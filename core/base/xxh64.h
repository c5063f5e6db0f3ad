#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct XXH64_state_s;

namespace halftone {

/// The 64-bit hash XXH64 with seed 0, by xxHash, of whatever comes in pieces: the same number on every machine and in every version, so
/// that files may hold it. Notices accidents, not malice.
class Xxh64
{
public:
    Xxh64();
    void add(std::span<const std::byte> bytes);
    std::uint64_t value() const;

private:
    struct Free
    {
        void operator()(XXH64_state_s *state) const;
    };
    std::unique_ptr<XXH64_state_s, Free> m_state;
};

} // namespace halftone
