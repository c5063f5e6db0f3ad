#pragma once

#include "core/kernels/backend.h"

#include <cstdint>
#include <memory>

namespace halftone::backends::onednn {

/// Rows divided by the root of their mean square, times gamma: oneDNN's layer normalisation always takes the mean off. Sums are kept in
/// float32. Inputs: data, gamma (float32).
struct MeanSquareRows
{
    std::int64_t rows = 0;
    std::int64_t width = 0;
    float epsilon = 0;
    tensor::DType from = tensor::DType::F32; ///< or a type of 16 bits
    tensor::DType to = tensor::DType::F32;
};

std::unique_ptr<kernels::Kernel> meanSquareKernel(const MeanSquareRows &rows);

} // namespace halftone::backends::onednn
