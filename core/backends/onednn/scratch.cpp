#include "core/backends/onednn/scratch.h"

#include "core/base/frugal_memory.h"
#include "core/base/huge_pages.h"
#include "core/base/memory.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>

namespace halftone::backends::onednn {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLine = 64;

#ifdef HALFTONE_SANITIZED
constexpr bool kSharesPages = false; // what runs over the end of its memory is to be seen
#else
constexpr bool kSharesPages = true;
#endif

std::shared_ptr<std::byte> ownPages(std::size_t bytes)
{
    const std::size_t unit = bytes >= kHugePage ? kHugePage : kPage;
    const std::size_t rounded = std::max((bytes + unit - 1) / unit, std::size_t{1}) * unit;
    void *memory = std::aligned_alloc(unit, rounded);
    if (memory == nullptr)
        return nullptr;
    wantHugePages(memory, rounded);
    return {static_cast<std::byte *>(memory), [](std::byte *start) { std::free(start); }};
}

/// Lie one behind another. A block goes with the last piece in it.
class SmallPieces
{
public:
    std::shared_ptr<std::byte> take(std::size_t bytes)
    {
        const std::size_t unit = bytes >= kPage ? kPage : kLine;
        const std::scoped_lock guard(m_mutex);
        std::shared_ptr<std::byte> block = m_block.lock();
        std::size_t at = (m_used + unit - 1) / unit * unit;
        if (block == nullptr || at + bytes > kBlock) {
            block = ownPages(kBlock);
            if (block == nullptr)
                return nullptr;
            m_block = block;
            at = 0;
        }
        m_used = at + std::max(bytes, kLine);
        return {block, block.get() + at};
    }

private:
    static constexpr std::size_t kBlock = 2 * kHugePage;

    std::mutex m_mutex;
    std::weak_ptr<std::byte> m_block;
    std::size_t m_used = 0; ///< of it
};

SmallPieces s_smallPieces;

struct ThreadScratch
{
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
    bool isLent = false;
};

/// One for each lease within another: a kernel that calls a kernel, whose program has recurrent layers.
thread_local std::array<ThreadScratch, 4> s_scratch;

ThreadScratch *freeScratch()
{
    const auto found = std::ranges::find(s_scratch, false, &ThreadScratch::isLent);
    return found == s_scratch.end() ? nullptr : &*found;
}

} // namespace

std::shared_ptr<std::byte> allocatePages(std::size_t bytes)
{
    if (bytes >= kLargeRequest && bytes > availableMemory())
        return nullptr;
    if (FrugalMemory::wants(bytes))
        return FrugalMemory::newPages(bytes);
    return ownPages(bytes);
}

std::shared_ptr<std::byte> allocateTogether(std::size_t bytes)
{
    const bool isSmall = bytes < kHugePage && kSharesPages && !FrugalMemory::wants(bytes);
    return isSmall ? s_smallPieces.take(bytes) : allocatePages(bytes);
}

ScratchLease::ScratchLease(std::size_t bytes)
{
    ThreadScratch *const scratch = freeScratch();
    if (scratch == nullptr) {
        m_memory = allocatePages(bytes);
        return;
    }
    if (scratch->bytes < bytes || scratch->memory == nullptr) {
        *scratch = {}; // before there is more: both at once are not needed
        scratch->memory = allocatePages(bytes);
        scratch->bytes = scratch->memory != nullptr ? bytes : 0;
    }
    m_memory = scratch->memory;
    m_lent = &scratch->isLent;
    *m_lent = true;
}

ScratchLease::~ScratchLease()
{
    if (m_lent != nullptr)
        *m_lent = false;
}

} // namespace halftone::backends::onednn
