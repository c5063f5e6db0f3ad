#pragma once

#include "core/kernels/backend.h"

#include <cstdint>
#include <memory>

namespace halftone::backends::onednn {

/// Batch normalisation by known statistics (Ioffe and Szegedy, 2015, arXiv:1502.03167, algorithm 2), computed in float32 and rounded
/// once: (x − mean) · gamma / √(variance + ε) + beta for each channel. oneDNN's kernel for this layout takes three times as long.
/// Inputs: data in layout [batch, channels, place]; beta, mean and variance in float32, and gamma unless it is 1.
struct ChannelNorm
{
    std::int64_t batch = 0;
    std::int64_t channels = 0;
    std::int64_t places = 0;
    float epsilon = 0;
    bool hasGamma = true; ///< the last input
    tensor::DType type = tensor::DType::F32; ///< or a type of 16 bits; of data and result
};

std::unique_ptr<kernels::Kernel> channelNormKernel(const ChannelNorm &norm);

} // namespace halftone::backends::onednn
