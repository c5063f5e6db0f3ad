#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"
#include "core/tensor/weight_format.h"
#include "core/weights/block_coder.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace halftone::weights {

/// A matrix of weights as it lies in a tensor: K inputs, each output a sum over them.
struct WeightMatrix
{
    tensor::Tensor values; ///< float32, float16 or bfloat16
    std::int64_t inputs = 0; ///< K
    std::int64_t outputs = 0; ///< N
    bool outputsFirst = false; ///< [N, K]; else [K, N]
};

/// How codes are laid out.
enum class CodeLayout : std::uint8_t
{
    InputsFirst, ///< codes [K, N], scales and zero points [blocks, N], a channel's [N]
    OutputsFirst, ///< codes [N, K], scales and zero points [N, blocks], a channel's [N]
    Packed ///< codes [N, blocks, bytes of a block], several in a byte, zero points likewise in [N, bytes]; symmetric ones count from the least code
};

/// The codes of a matrix with what decodes them, as tensors of a model.
struct WeightCodes
{
    tensor::Tensor codes;
    tensor::Tensor scales;
    tensor::Tensor zeroPoints; ///< of unknown type where the format has none
    float matrixScale = 1; ///< NvFp4
    double signal = 0; ///< sum of the weights' squares
    double noise = 0; ///< of their errors' squares
};

/// Some outputs of a matrix, each with its weights one after the other, filled up to whole blocks with zeros.
struct OutputPanel
{
    std::size_t outputs = 0;
    std::size_t inputs = 0; ///< of an output, filled up
    std::size_t block = 0; ///< weights of one
    float *weights = nullptr; ///< outputs · inputs, which may be changed
    std::uint8_t *codes = nullptr; ///< likewise
    BlockScale *scales = nullptr; ///< outputs · (inputs / block)
};

struct EncodeSettings
{
    tensor::WeightFormat format;
    CodeLayout layout = CodeLayout::InputsFirst;
    tensor::DType scaleType = tensor::DType::F32; ///< of scales that are no codes
    bool searches = false; ///< W-methods, mse
    unsigned threads = 0; ///< 0: as many as the machine runs at once
    /// In place of BlockCoder::encode() of each block.
    std::function<void(const BlockCoder &coder, const OutputPanel &panel)> encode{};
};

/// The number of blocks of an output.
std::int64_t blocksOf(const tensor::WeightFormat &format, std::int64_t inputs);

/// Shapes of what encodeMatrix() gives, without its values.
tensor::Shape codesShape(const WeightMatrix &matrix, const tensor::WeightFormat &format, CodeLayout layout);
tensor::Shape scalesShape(const WeightMatrix &matrix, const tensor::WeightFormat &format, CodeLayout layout);
tensor::Shape zeroPointsShape(const WeightMatrix &matrix, const tensor::WeightFormat &format,
                              CodeLayout layout);
tensor::DType codesType(const tensor::WeightFormat &format, CodeLayout layout);
tensor::DType scalesType(const tensor::WeightFormat &format, tensor::DType real);

/// Encodes by outputs, on all threads; the result does not depend on their number. Needs: finite weights
WeightCodes encodeMatrix(const WeightMatrix &matrix, const EncodeSettings &settings);

/// What the codes stand for, laid out as the matrix, in float32.
tensor::Tensor roundedMatrix(const WeightMatrix &matrix, const EncodeSettings &settings);

/// BlockCoder's matrixScale for the matrix.
float scaleOf(const WeightMatrix &matrix, const tensor::WeightFormat &format);

/// The largest magnitude; infinite where a weight is infinite or NaN.
float largestOf(const WeightMatrix &matrix);

} // namespace halftone::weights
