#pragma once

#include "core/backends/reference/arrays.h"

#include <cstdint>
#include <vector>

namespace halftone::backends::reference {

/// Where an element of a result comes from: for each of the result's axes, the distance in elements of the source that
/// each position along it adds. Anything that slices, mirrors, repeats, stretches, pads or permutes is such a table.
using AxisTables = std::vector<std::vector<std::int64_t>>;

/// A position that no element of the source answers to.
inline constexpr std::int64_t kOutside = INT64_MIN;

/// Copies elements of `elementSize` bytes to `out`, whose axes are the tables' lengths; where a table says kOutside, the
/// element `fill` is taken.
void gather(const AxisTables &tables, std::size_t elementSize, const std::byte *source, const std::byte *fill,
            std::byte *out);

/// 0, stride, 2 · stride, …
std::vector<std::int64_t> evenTable(std::int64_t length, std::int64_t stride, std::int64_t first = 0);

/// The tables that copy a dense tensor as it is.
AxisTables identityTables(DimSpan dims);

} // namespace halftone::backends::reference
