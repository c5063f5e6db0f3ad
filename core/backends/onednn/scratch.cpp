#include "core/runtime/onednn/scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace halftone::runtime::onednn {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct ThreadScratch
{
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
    bool isLent = false;
};

thread_local ThreadScratch t_scratch;

} // namespace

std::shared_ptr<std::byte> allocatePages(std::size_t bytes)
{
    const std::size_t unit = bytes >= kHugePage ? kHugePage : std::size_t{4096};
    const std::size_t rounded = std::max((bytes + unit - 1) / unit, std::size_t{1}) * unit;
    void *memory = std::aligned_alloc(unit, rounded);
    if (memory == nullptr)
        return nullptr;
    madvise(memory, rounded, MADV_HUGEPAGE); // where it cannot be done, small pages do
    return {static_cast<std::byte *>(memory), [](std::byte *start) { std::free(start); }};
}

ScratchLease::ScratchLease(std::size_t bytes)
{
    if (t_scratch.isLent) {
        m_memory = allocatePages(bytes);
        return;
    }
    if (t_scratch.bytes < bytes || t_scratch.memory == nullptr) {
        t_scratch = {}; // before there is more: both at once are not needed
        t_scratch.memory = allocatePages(bytes);
        t_scratch.bytes = t_scratch.memory != nullptr ? bytes : 0;
    }
    m_memory = t_scratch.memory;
    m_isShared = t_scratch.isLent = true;
}

ScratchLease::~ScratchLease()
{
    if (m_isShared)
        t_scratch.isLent = false;
}

} // namespace halftone::runtime::onednn
