#include "core/tensor/deferred.h"

#include "core/base/huge_pages.h"

#include <algorithm>
#include <new>
#include <vector>

namespace halftone::tensor {

std::span<const std::byte> DeferredElements::all() const
{
    std::call_once(m_made, [this] {
        auto bytes = newBytes(m_size);
        make(0, m_size, bytes.get());
        m_bytes = std::move(bytes);
        m_isMade.store(true, std::memory_order_release);
    });
    return {m_bytes.get(), m_size};
}

bool DeferredElements::inPieces(const std::function<bool(std::span<const std::byte>)> &take) const
{
    constexpr std::size_t kPiece = 256 * kStep;
    if (m_isMade.load(std::memory_order_acquire))
        return take(all());
    std::vector<std::byte> piece(std::min(kPiece, m_size));
    for (std::size_t first = 0; first < m_size; first += kPiece) {
        const std::span<std::byte> part = std::span(piece).first(std::min(kPiece, m_size - first));
        make(first, part.size(), part.data());
        if (!take(part))
            return false;
    }
    return true;
}

std::shared_ptr<std::byte> newBytes(std::size_t size)
{
    const bool isLarge = size >= 2 * kHugePage;
    const std::align_val_t alignment{isLarge ? kHugePage : 64};
    auto *const bytes = static_cast<std::byte *>(::operator new(size, alignment));
    if (isLarge)
        wantHugePages(bytes, size);
    return {bytes, [alignment](std::byte *start) { ::operator delete(start, alignment); }};
}

} // namespace halftone::tensor
