#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace halftone::tensor {

/// Elements that are made of something else when somebody first reads them, so that what nobody reads takes no memory.
/// Any number of threads may read.
class DeferredElements
{
public:
    explicit DeferredElements(std::size_t bytes)
        : m_size(bytes)
    {
    }
    DeferredElements(const DeferredElements &) = delete;
    DeferredElements &operator=(const DeferredElements &) = delete;
    virtual ~DeferredElements() = default;

    std::size_t size() const { return m_size; } ///< in bytes
    /// The elements as the file has them that they are unpacked of, several in a byte; empty for all others.
    virtual std::span<const std::byte> packed() const { return {}; }
    /// All of them; kept from then on.
    std::span<const std::byte> all() const;
    /// All of them in order, piece by piece, which are not kept; stops where `take` gives false. Says whether it did not.
    bool inPieces(const std::function<bool(std::span<const std::byte>)> &take) const;

protected:
    /// Makes the bytes [first, first + count), both multiples of kStep, but for the end.
    virtual void make(std::size_t first, std::size_t count, std::byte *to) const = 0;

    static constexpr std::size_t kStep = 4096; ///< whole elements of any type

private:
    std::size_t m_size;
    mutable std::once_flag m_made;
    mutable std::atomic<bool> m_isMade = false;
    mutable std::shared_ptr<const std::byte> m_bytes;
};

/// Bytes that are to be written, not zeroed first. Large ones ask for huge pages, since faulting in small ones would cost as
/// much as a conversion.
std::shared_ptr<std::byte> newBytes(std::size_t size);

} // namespace halftone::tensor
