#include "core/backends/cuda/arena.h"

#include <algorithm>
#include <numeric>

namespace halftone::backends::cuda {
namespace {

bool meet(const Lifetime &a, const Lifetime &b)
{
    return a.firstStep <= b.lastStep && b.firstStep <= a.lastStep;
}

} // namespace

Arena arrange(std::span<const Lifetime> lifetimes)
{
    Arena arena{std::vector<std::size_t>(lifetimes.size(), 0), 0};
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&lifetimes](std::size_t a, std::size_t b) {
        return lifetimes[a].bytes > lifetimes[b].bytes;
    });
    std::vector<std::size_t> placed; // by offset
    for (const std::size_t id : order) {
        std::size_t offset = 0;
        for (const std::size_t other : placed) {
            if (!meet(lifetimes[other], lifetimes[id]))
                continue;
            if (offset + lifetimes[id].bytes <= arena.offsets[other])
                break;
            offset = std::max(offset, arena.offsets[other] + alignedUp(lifetimes[other].bytes));
        }
        arena.offsets[id] = offset;
        arena.bytes = std::max(arena.bytes, offset + alignedUp(lifetimes[id].bytes));
        placed.insert(std::ranges::upper_bound(placed, offset, {},
                                               [&arena](std::size_t k) { return arena.offsets[k]; }),
                      id);
    }
    return arena;
}

} // namespace halftone::backends::cuda
