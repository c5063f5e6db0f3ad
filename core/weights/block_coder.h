#pragma once

#include "core/tensor/weight_format.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace halftone::weights {

/// What the codes of a block are decoded with.
struct BlockScale
{
    float scale = 0; ///< a code less the zero point, times this, is the weight
    std::uint8_t code = 0; ///< of the scale, in formats whose scales are codes
    std::uint8_t zero = 0; ///< integers: the code of 0, for symmetric ones half of all codes
};

/// Codes of one block of weights (core/quantize/RULES.md, W-formats). Codes are one a byte: integers counted from the least one up (so that
/// a symmetric one is its code less BlockScale::zero), floats as their bits.
class BlockCoder
{
public:
    /// searches     takes of 26 ranges the one with the least squared error (W-methods, mse); else the block's own
    /// matrixScale  W-formats' G of NvFp4, matrixScaleOf(); unused elsewhere
    BlockCoder(const tensor::WeightFormat &format, bool searches, float matrixScale);

    /// Finds the scale, and with it the codes. Needs: as many codes as weights, which are finite
    BlockScale encode(std::span<const float> block, std::uint8_t *codes) const;
    /// The scale alone.
    BlockScale scaleOf(std::span<const float> block) const;
    void codesOf(std::span<const float> block, const BlockScale &scale, std::uint8_t *codes) const;
    /// What codes stand for.
    void decode(std::span<const std::uint8_t> codes, const BlockScale &scale, float *values) const;

private:
    BlockScale scaleFor(float low, float high, float clip) const;
    BlockScale searched(std::span<const float> block, float low, float high) const;
    double errorOf(std::span<const float> block, const BlockScale &scale) const;

    tensor::WeightFormat m_format;
    bool m_searches;
    float m_matrixScale;
    int m_most; ///< the largest code of integers
    int m_half; ///< the code of 0 of symmetric ones
    bool m_isChannelByte; ///< int8/channel, whose codes are Q-pair-weights'
};

/// Of a matrix with that largest magnitude.
float matrixScaleOf(const tensor::WeightFormat &format, float largest);

} // namespace halftone::weights
