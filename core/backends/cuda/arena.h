#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace halftone::backends::cuda {

inline constexpr std::size_t kDeviceAlignment = 256; ///< as cuMemAlloc gives it

constexpr std::size_t alignedUp(std::size_t bytes)
{
    return (bytes + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

/// A piece of memory that holds something from one step to another, both included.
struct Lifetime
{
    std::size_t bytes = 0;
    std::size_t firstStep = 0;
    std::size_t lastStep = 0;
};

struct Arena
{
    std::vector<std::size_t> offsets; ///< by lifetime, multiples of kDeviceAlignment
    std::size_t bytes = 0;
};

/// Places in one piece of memory: two that live at one time don't overlap. The largest come first, each as low as it can lie.
Arena arrange(std::span<const Lifetime> lifetimes);

} // namespace halftone::backends::cuda
