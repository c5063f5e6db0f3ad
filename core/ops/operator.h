#pragma once

#include "core/ops/op_algebra.h"
#include "core/ops/op_coded.h"
#include "core/ops/op_control.h"
#include "core/ops/op_elementwise.h"
#include "core/ops/op_fused.h"
#include "core/ops/op_index.h"
#include "core/ops/op_linear.h"
#include "core/ops/op_loss.h"
#include "core/ops/op_move.h"
#include "core/ops/op_norm.h"
#include "core/ops/op_place.h"
#include "core/ops/op_quantized.h"
#include "core/ops/op_random.h"
#include "core/ops/op_reduce.h"
#include "core/ops/op_region.h"
#include "core/ops/op_sample.h"
#include "core/ops/op_spatial.h"
#include "core/ops/op_speech.h"
#include "core/ops/op_tabular.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

/// Operators as typed structs shared by all formats, without attribute texts of any format. Dialects read and
/// write them.
namespace halftone::ops {

/// The structs that the class Operator can hold.
template <class... Ts>
struct TypeList
{
    static constexpr std::size_t kSize = sizeof...(Ts);
};

// clang-format off
using Operators = TypeList<
    Opaque, ControlFlow,
    Conv, ConvTranspose, FullyConnected, MatMul, Gemm, AttentionProduct, Embedding,
    BatchNormalization, LayerNormalization, GroupNormalization, InstanceNormalization, LpNormalization, LRN,
    Pool, AdaptiveAveragePool, Upsample, BilinearResize, Crop, RoiPool, BoxPrior, BoxDetection, BoxTarget, BoxNms, BoxIou,
    Unary, Activation, LeakyRelu, Binary, ScalarBinary, Clip, HardSigmoid, SmoothL1, Join, Where, Dropout, Cast, MultiCast,
    Reduce, Moments, ArgReduce, Softmax, SoftmaxActivation, SoftmaxOutput, RegressionOutput, LossOutput, SoftmaxCrossEntropy,
    TopK, Sort, ArgSort,
    Concat, Stack, Split, Reshape, Flatten, Unsqueeze, Squeeze, Transpose, SwapAxes, Slice, SliceLike, Pad, Tile, Repeat,
    Reverse, Expand, BroadcastAxes, BroadcastLike, ReshapeLike, DepthToSpace, SpaceToDepth, Gather, GatherND, ScatterIntoZeros, Pick,
    BatchTake, OneHot, Sequence, ShapeOf, Fill, Range, RangeLike,
    BoxDecode, BoxEncode, BoxMatch, Proposal, PositionPool, RotatedRoiAlign, DeformConv, Unfold, Col2Im, Correlation, SamplingGrid,
    SpatialTransformer, Picture,
    LinearAlgebra, ColumnKronecker,
    IndexCopy, SliceAssign, ScatterAssign, IndexArray, Diagonal, FlatIndex, Histogram, CumSum, EyeLike, Linspace,
    Quadratic, AllFinite,
    CtcLoss, SvmOutput, SparsityPenalty,
    Random, RandomSample, Multinomial, Density, Shuffle,
    Curve, IsInf, ClipBetween, BatchNormTraining, MeanVarianceNormalization,
    GatherElements, ScatterElements, ScatterND, TensorScatter, Compress, NonZero, TensorList, Trilu,
    CenterCropPad, Resize, GridSample, AffineGrid, RoiAlign, MaxUnpool, NonMaxSuppression, DFT, STFT,
    Recurrence, Attention, RotaryEmbedding, Einsum, QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, CodedConv, CodedMatMul,
    Quantize, Requantize, Dequantize, BatchNormRelu,
    Quantized<Conv>, Quantized<FullyConnected>, Quantized<Pool>, Quantized<Activation>, Quantized<BatchNormalization>, Quantized<Concat>,
    Quantized<Flatten>, Quantized<Binary>, Quantized<Embedding>, FusedProduct, CodedChain, CodedSums, CodedAverage,
    CodedMultiply, RowAttention, TreeEnsemble, SupportVectors, TfIdfVectorizer>;
// clang-format on

template <class T, class... Ts>
consteval std::size_t positionIn(TypeList<Ts...>)
{
    const std::array<bool, sizeof...(Ts)> same{std::is_same_v<T, Ts>...};
    return static_cast<std::size_t>(std::find(same.begin(), same.end(), true) - same.begin());
}

template <class T>
inline constexpr std::size_t kOperatorIndex = positionIn<T>(Operators{});
template <class T>
concept OneOfTheOperators = (kOperatorIndex<T>) < Operators::kSize;

/// One of the structs as an immutable value; copies share it. Not a std::variant: with so many alternatives, its copy,
/// destructor and visit add megabytes of symbols to every object file.
class Operator
{
public:
    Operator()
        : Operator(Opaque{})
    {
    }
    template <OneOfTheOperators T>
    Operator(T value)
        : m_value(hold(new const T(std::move(value)), &discard<T>))
        , m_index(kOperatorIndex<T>)
        , m_equal(&equal<T>)
    {
    }

    std::size_t index() const { return m_index; } ///< index in Operators

    template <OneOfTheOperators T>
    bool is() const
    {
        return m_index == kOperatorIndex<T>;
    }
    template <OneOfTheOperators T>
    const T *getIf() const
    {
        return is<T>() ? static_cast<const T *>(m_value.get()) : nullptr;
    }
    /// Needs: is<T>().
    template <OneOfTheOperators T>
    const T &as() const
    {
        assert(is<T>());
        return *static_cast<const T *>(m_value.get());
    }

    bool operator==(const Operator &other) const
    {
        return m_index == other.m_index && m_equal(m_value.get(), other.m_value.get());
    }

    const void *address() const { return m_value.get(); } ///< of the struct, for visit()

private:
    /// Not std::make_shared, which instantiates dozens of functions for each struct in every user.
    static std::shared_ptr<const void> hold(const void *value, void (*discard)(const void *));
    template <class T>
    static void discard(const void *value)
    {
        delete static_cast<const T *>(value);
    }
    template <class T>
    static bool equal(const void *a, const void *b)
    {
        return *static_cast<const T *>(a) == *static_cast<const T *>(b);
    }

    std::shared_ptr<const void> m_value;
    std::size_t m_index = 0;
    bool (*m_equal)(const void *, const void *) = nullptr;
};

template <class R, class F, class T>
R callWith(F &f, const void *value)
{
    return f(*static_cast<const T *>(value));
}

template <class F, class... Ts>
auto visitOneOf(F &f, const Operator &op, TypeList<Ts...>)
{
    using R = std::invoke_result_t<F &, const Opaque &>;
    static constexpr std::array<R (*)(F &, const void *), sizeof...(Ts)> kTable{&callWith<R, F, Ts>...};
    return kTable[op.index()](f, op.address());
}

/// Calls f with the struct. Needs: the same result type for all structs.
template <class F>
auto visit(F &&f, const Operator &op)
{
    return visitOneOf(f, op, Operators{});
}

} // namespace halftone::ops
