#pragma once

#include "core/kernels/backend.h"

#include <cstdint>
#include <memory>

namespace halftone::backends::onednn {

/// Rows less their mean, divided by their deviation, times gamma, plus beta. The mean is corrected by what is left when it has been
/// taken off, so that a large offset of the row costs no digits: oneDNN's kernel keeps the float32 mean as it comes out of one
/// sum. Inputs: data, gamma[, beta] (float32).
struct CentredRows
{
    std::int64_t rows = 0;
    std::int64_t width = 0;
    float epsilon = 0;
    bool hasShift = false;
    tensor::DType from = tensor::DType::F32; ///< or a type of 16 bits
    tensor::DType to = tensor::DType::F32;
};

std::unique_ptr<kernels::Kernel> rowNormKernel(const CentredRows &rows);

} // namespace halftone::backends::onednn
