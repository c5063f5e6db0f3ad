#include "core/backends/onednn/scratch.h"

#include "core/base/frugal_memory.h"
#include "core/base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace halftone::backends::onednn {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct ThreadScratch
{
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
    bool isLent = false;
};

/// One for each lease within another: a kernel that calls a kernel.
thread_local std::array<ThreadScratch, 2> s_scratch;

ThreadScratch *freeScratch()
{
    const auto found = std::ranges::find(s_scratch, false, &ThreadScratch::isLent);
    return found == s_scratch.end() ? nullptr : &*found;
}

} // namespace

std::shared_ptr<std::byte> allocatePages(std::size_t bytes)
{
    const std::size_t unit = bytes >= kHugePage ? kHugePage : std::size_t{4096};
    const std::size_t rounded = std::max((bytes + unit - 1) / unit, std::size_t{1}) * unit;
    if (bytes >= kLargeRequest && bytes > availableMemory())
        return nullptr;
    if (FrugalMemory::wants(bytes))
        return FrugalMemory::newPages(bytes);
    void *memory = std::aligned_alloc(unit, rounded);
    if (memory == nullptr)
        return nullptr;
    madvise(memory, rounded, MADV_HUGEPAGE); // where it cannot be done, small pages do
    return {static_cast<std::byte *>(memory), [](std::byte *start) { std::free(start); }};
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
