#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <system_error>

namespace halftone {

/// A request that the system refuses, with its size: what operator new of the programs throws (app/allocation.cpp).
class OutOfMemory final : public std::bad_alloc
{
public:
    explicit OutOfMemory(std::size_t bytes)
        : m_bytes(bytes)
    {
    }
    const char *what() const noexcept override { return "out of memory"; }
    std::size_t bytes() const { return m_bytes; }

private:
    std::size_t m_bytes;
};

/// Requests from this size on are compared with what there is. The system grants smaller and larger ones alike, and ends
/// the program once it is written to what is not there.
inline constexpr std::size_t kLargeRequest = std::size_t{64} << 20;

/// What this process can still take: the least of what the system has left, what its control group leaves and what the
/// limit of its address space leaves. A guess, since others take and give. Allocates nothing itself.
std::uint64_t availableMemory();

/// "out of memory: 7.5 GiB requested for a tensor of shape (…), 1.2 GiB left"; `what` may be empty.
Error outOfMemory(std::uint64_t bytes, const std::string &what = {});

/// Whether there may be so many bytes for `what`. fails: NoMemory
Result<void> checkRoom(std::uint64_t bytes, const std::string &what);

/// throws std::bad_alloc where the code of a file function says that there was no memory for it: it fails as whatever else
/// allocates does, instead of being taken for a folder without files.
void checkMemory(const std::error_code &code);

/// Bytes of the last request that was refused in this process; 0 where none was. Whoever allocates for a program notes it.
void noteRefusal(std::uint64_t bytes) noexcept;
std::uint64_t lastRefusal() noexcept;

/// Sets some memory aside, so that a failure can be told when there is no more.
void reserveMemory();
/// Gives it back, once; callable where nothing may be allocated.
void releaseReserve() noexcept;

} // namespace halftone
