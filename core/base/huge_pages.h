#pragma once

#include <cstddef>

namespace halftone {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Memory in huge pages, where the system has them, costs a fraction when it is touched for the first time, and fewer walks of the page table
/// later. For those that lie whole in it, from multiples of kHugePage on; where it cannot be done, small ones do.
void wantHugePages(void *memory, std::size_t bytes) noexcept;

} // namespace halftone
