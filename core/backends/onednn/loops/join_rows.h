#pragma once

#include "core/kernels/backend.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace halftone::backends::onednn {

/// What comes of one input: so many bytes of a row, at that place in the row of the result.
struct JoinedPart
{
    std::size_t width = 0;
    std::size_t offset = 0;
};

/// Row r of the result holds row r of every input: a concatenation along the last axis in memory, which oneDNN's own copies
/// element by element. What no part covers stays as it is. Shared among OpenMP's threads.
/// width  bytes of a row of the result
std::unique_ptr<kernels::Kernel> joinRowsKernel(std::size_t rows, std::vector<JoinedPart> parts,
                                                std::size_t width);

} // namespace halftone::backends::onednn
