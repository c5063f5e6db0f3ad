#pragma once

#include "core/kernels/backend.h"
#include "core/tensor/dtype.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace halftone::backends::onednn {

/// Pictures as networks are given them: planes of float32, one a channel.
struct PicturePlanes
{
    std::int64_t pictures = 1;
    std::int64_t channels = 1;
    std::int64_t pixels = 1; ///< of a plane
};

constexpr std::int64_t kMostPictureChannels = 4;

/// Their codes, round(factor * x), ties to even, saturated, NaN the least; the channels of a pixel lie together, as products of codes
/// want them. oneDNN's reorder moves elements one by one where channels are so few.
/// needs  at most kMostPictureChannels; `type` I8 or U8
std::unique_ptr<kernels::Kernel> pictureCodesKernel(const PicturePlanes &planes, double factor,
                                                    tensor::DType type);

} // namespace halftone::backends::onednn
