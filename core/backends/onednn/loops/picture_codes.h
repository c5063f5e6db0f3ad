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

/// Codes of some pixels, for kernels that need them in memory of their own.
class PictureCoder
{
public:
    /// flip  with which each code is XORed
    PictureCoder(std::int64_t channels, double factor, tensor::DType type, std::uint8_t flip = 0);
    /// from    the first pixel's first channel; planes are `stride` elements apart
    /// bytes   of a pixel: as many as channels, or four, of which those that are too many are no codes
    void write(const float *from, std::int64_t stride, std::int64_t count, std::byte *to,
               std::int64_t bytes) const;

private:
    std::int64_t m_channels = 1;
    float m_factor = 1;
    float m_least = 0;
    float m_most = 255;
    std::uint32_t m_flip = 0;
};

/// Their codes, round(factor * x), ties to even, saturated, NaN the least; the channels of a pixel lie together, as products of codes
/// want them. oneDNN's reorder moves elements one by one where channels are so few.
/// needs  at most kMostPictureChannels; `type` I8 or U8
std::unique_ptr<kernels::Kernel> pictureCodesKernel(const PicturePlanes &planes, double factor,
                                                    tensor::DType type);

} // namespace halftone::backends::onednn
