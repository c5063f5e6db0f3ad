#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace halftone::ops {

/// An equation of Einsum for operands of known ranks: a label for each axis. Axes that "..." stands for have labels of their own.
struct EinsumLabels
{
    std::vector<std::vector<int>> inputs;
    std::vector<int> output;
};

/// fails: BadInput for what is no equation, or none for so many operands of these ranks
Result<EinsumLabels> readEinsum(std::string_view equation, std::span<const std::size_t> ranks);

} // namespace halftone::ops
