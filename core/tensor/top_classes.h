#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace halftone::tensor {

/// The places of the `number` largest scores, largest first. The lowest place wins a tie; NaN counts as the largest, as it
/// does for NumPy's and MXNet's argmax.
std::vector<std::size_t> topClasses(std::span<const float> scores, std::size_t number);

} // namespace halftone::tensor
