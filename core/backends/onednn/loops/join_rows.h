#pragma once

#include "core/kernels/backend.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace halftone::backends::onednn {

/// Row r of the result is row r of every input, one after the other: a concatenation along the last axis in memory, which
/// oneDNN's own copies element by element. Shared among OpenMP's threads.
/// widths  bytes of a row of each input
std::unique_ptr<kernels::Kernel> joinRowsKernel(std::size_t rows, std::vector<std::size_t> widths);

} // namespace halftone::backends::onednn
