#pragma once

#include "core/ops/op_types.h"

#include <cstdint>

/// Operators that are sums of products: convolutions, matrix products, attention.
namespace halftone::ops {

/// Cross-correlation over 1 to 3 spatial axes. Inputs: data, weight[, bias]. Weight is (outputs, inputs /
/// groups, kernel…) for Layout::ChannelsFirst and (outputs, kernel…, inputs / groups) for ChannelsLast.
struct Conv
{
    Dims kernel{};
    Dims stride{}; ///< empty: all 1
    Dims dilate{}; ///< empty: all 1
    Padding pad{};
    std::int64_t outputChannels = 0;
    std::int64_t groups = 1;
    bool hasBias = true;
    Layout layout = Layout::ChannelsFirst;

    bool operator==(const Conv &) const = default;
};

/// Transposed convolution. Inputs: data, weight[, bias]; weight is (inputs, outputs / groups, kernel…), or
/// with the channels last.
struct ConvTranspose
{
    Dims kernel{};
    Dims stride{}; ///< empty: all 1
    Dims dilate{}; ///< empty: all 1
    Padding pad{};
    Dims outputPad{}; ///< added at the end of each output axis; empty: 0
    Dims targetShape{}; ///< spatial output shape that overrides pad and outputPad; empty or all 0: not given
    std::int64_t outputChannels = 0;
    std::int64_t groups = 1;
    bool hasBias = false;
    Layout layout = Layout::ChannelsFirst;

    bool operator==(const ConvTranspose &) const = default;
};

/// data × weightᵀ + bias. Inputs: data, weight (units, features)[, bias (units)].
struct FullyConnected
{
    std::int64_t units = 0;
    bool flatten = true; ///< all axes but the first are the features; otherwise only the last one is
    bool hasBias = true;

    bool operator==(const FullyConnected &) const = default;
};

/// Product of two tensors.
struct MatMul
{
    enum class Form : std::uint8_t {
        Dot, ///< last axis of the first with the first axis of the second, any ranks
        Batched, ///< matrices in the last two axes, equal leading axes
        Stretched, ///< as Batched, leading axes stretch, vectors are a row on the left and a column on the right
    } form
        = Form::Dot;
    bool transposeA
        = false; ///< Dot: the first axis becomes the last; Batched: the two matrix axes are swapped
    bool transposeB = false; ///< Dot: the last axis becomes the first

    bool operator==(const MatMul &) const = default;
};

/// alpha · A × B [+ beta · C] over the axes `axis` and the last one; the other axes are equal. Inputs: A, B[,
/// C].
struct Gemm
{
    bool transposeA = false;
    bool transposeB = false;
    bool hasAddend = false;
    bool addendStretches = false; ///< to the result's shape
    double alpha = 1;
    double beta = 1;
    std::int64_t axis = -2; ///< where the rows are

    bool operator==(const Gemm &) const = default;
};

/// One product of multi-head attention over interleaved projections (sequence, batch, heads × parts × size).
struct AttentionProduct
{
    enum class Kind : std::uint8_t {
        SelfScores, ///< queries × keys of one (L, N, 3 E) input, to (N × heads, L, L)
        SelfValues, ///< attention × values of one (L, N, 3 E) input, to (L, N, E)
        CrossScores, ///< queries (Lq, N, E) × keys of (Lk, N, 2 E), to (N × heads, Lq, Lk)
        CrossValues, ///< attention (N × heads, Lq, Lk) × values of (Lk, N, 2 E), to (Lq, N, E)
    } kind
        = Kind::SelfScores;
    std::int64_t heads = 1;

    bool operator==(const AttentionProduct &) const = default;
};

/// Rows of a table by index. Inputs: indices, table (rows, width). Output: indices' shape, then width.
struct Embedding
{
    std::int64_t rows = 0;
    std::int64_t width = 0;
    DType dtype = DType::F32; ///< of table and output
    bool sparseGradient = false;

    bool operator==(const Embedding &) const = default;
};

} // namespace halftone::ops
