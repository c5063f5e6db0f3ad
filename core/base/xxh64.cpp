#include "core/base/xxh64.h"

#include <xxhash.h>

#include <new>

namespace halftone {

void Xxh64::Free::operator()(XXH64_state_s *state) const
{
    XXH64_freeState(state);
}

Xxh64::Xxh64()
    : m_state(XXH64_createState())
{
    if (!m_state)
        throw std::bad_alloc();
    XXH64_reset(m_state.get(), 0);
}

void Xxh64::add(std::span<const std::byte> bytes)
{
    if (!bytes.empty())
        XXH64_update(m_state.get(), bytes.data(), bytes.size());
}

std::uint64_t Xxh64::value() const
{
    return XXH64_digest(m_state.get());
}

} // namespace halftone
