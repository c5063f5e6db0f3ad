#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>

/// Operators that look along whole axes: reductions, softmax and losses, order.
namespace halftone::ops {

struct Reduce
{
    enum class Kind : std::uint8_t {
        Sum,
        Mean,
        Max,
        Min,
        Prod,
        NanSum,
        NanProd,
        L1,
        L2,
        LogSum,
        LogSumExp,
        SumSquare
    } kind
        = Kind::Sum;
    Dims axes{}; ///< empty: all
    bool eachElement = false; ///< no axis at all: every element for itself
    bool exclude = false; ///< all axes but these
    bool keepDims = false;
    bool atLeastRank1 = false; ///< a full reduction gives (1,) instead of rank 0
    DType accumulate = DType::Unknown; ///< output type where the operator has a choice

    bool operator==(const Reduce &) const = default;
};

/// Mean and variance (two outputs).
struct Moments
{
    Dims axes{}; ///< empty: all
    bool keepDims = false;
    bool atLeastRank1 = false;

    bool operator==(const Moments &) const = default;
};

/// Index of the largest or smallest element.
struct ArgReduce
{
    bool smallest = false;
    std::optional<std::int64_t> axis{}; ///< nothing: over all elements
    bool keepDims = false;
    bool atLeastRank1 = false;
    bool perRow = false; ///< argmax_channel: always axis 1
    bool last = false; ///< of equal elements the last, otherwise the first

    bool operator==(const ArgReduce &) const = default;
};

/// Inputs: data, [lengths: data's shape without the axis]. Elements beyond the length are 0.
struct Softmax
{
    enum class Kind : std::uint8_t {
        Softmax,
        LogSoftmax,
        Softmin,
        Hardmax ///< 1 at the first of the largest, 0 elsewhere
    } kind
        = Kind::Softmax;
    std::int64_t axis = -1;
    bool flattened = false; ///< over the axis and all behind it as one
    std::optional<double> temperature{};
    bool useLength = false;
    DType dtype = DType::Unknown; ///< of the output, where it is given
    /// One NaN or positive infinity, or nothing but negative infinities, makes the whole line NaN. Else float32 along the last axis
    /// without temperature and lengths counts NaN as infinite, as the kernels do to which MXNet leaves it.
    bool spreadsNaN = false;

    bool operator==(const Softmax &) const = default;
};

/// Over axis 1 (channel) or over all axes but the first.
struct SoftmaxActivation
{
    bool channel = false;

    bool operator==(const SoftmaxActivation &) const = default;
};

enum class LossNormalization : std::uint8_t
{
    None,
    Batch,
    Valid
};

/// Softmax whose gradient is that of the cross entropy. Inputs: data, label.
struct SoftmaxOutput
{
    bool multiOutput = false; ///< over axis 1, a label for every place
    bool preserveShape = false; ///< over the last axis, a label for every row
    double gradScale = 1;
    double ignoreLabel = -1;
    bool useIgnore = false;
    bool outGrad = false;
    double smoothAlpha = 0;
    LossNormalization normalization = LossNormalization::None;

    bool operator==(const SoftmaxOutput &) const = default;
};

/// Inputs: data, label. Identity (or sigmoid) forward.
struct RegressionOutput
{
    enum class Kind : std::uint8_t { Linear, Logistic, MeanAbsolute } kind = Kind::Linear;
    double gradScale = 1;

    bool operator==(const RegressionOutput &) const = default;
};

/// Identity forward, a constant gradient backward.
struct LossOutput
{
    double gradScale = 1;
    double validThreshold = 0;
    LossNormalization normalization = LossNormalization::None;

    bool operator==(const LossOutput &) const = default;
};

/// Inputs: data (N, classes), label (N). Output: one number.
struct SoftmaxCrossEntropy
{
    bool operator==(const SoftmaxCrossEntropy &) const = default;
};

struct TopK
{
    enum class Returns : std::uint8_t { Indices, Values, Mask, Both } returns = Returns::Indices;
    std::optional<std::int64_t> axis = -1; ///< nothing: over all elements
    std::int64_t k = 1; ///< below 1: all
    bool ascending = false;
    DType indexType = DType::F32;

    bool operator==(const TopK &) const = default;
};

/// Outputs: values, [indices (hidden)].
struct Sort
{
    std::optional<std::int64_t> axis = -1; ///< nothing: all elements in one vector
    bool ascending = true;

    bool operator==(const Sort &) const = default;
};

struct ArgSort
{
    std::optional<std::int64_t> axis = -1;
    bool ascending = true;
    DType indexType = DType::F32;

    bool operator==(const ArgSort &) const = default;
};

} // namespace halftone::ops
