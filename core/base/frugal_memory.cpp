#include "core/base/frugal_memory.h"

#include <sys/mman.h>

#include <atomic>

namespace halftone {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;

struct Counts
{
    std::atomic<unsigned> wishes = 0;
    std::atomic<std::size_t> bytes = 0;
    std::atomic<std::size_t> peak = 0;
};
Counts s_counts;

void raisePeak(std::size_t bytes)
{
    std::size_t peak = s_counts.peak;
    while (bytes > peak && !s_counts.peak.compare_exchange_weak(peak, bytes)) { }
}

} // namespace

FrugalMemory::FrugalMemory()
{
    ++s_counts.wishes;
}

FrugalMemory::~FrugalMemory()
{
    --s_counts.wishes;
}

bool FrugalMemory::wants(std::size_t bytes)
{
    return bytes >= kLarge && s_counts.wishes > 0;
}

std::shared_ptr<std::byte> FrugalMemory::newPages(std::size_t bytes)
{
    void *const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return nullptr;
    raisePeak(s_counts.bytes += bytes);
    return {static_cast<std::byte *>(pages), [bytes](std::byte *start) {
                ::munmap(start, bytes);
                s_counts.bytes -= bytes;
            }};
}

std::size_t FrugalMemory::peakBytes()
{
    return s_counts.peak;
}

void FrugalMemory::restartPeak()
{
    s_counts.peak = s_counts.bytes.load();
}

} // namespace halftone
