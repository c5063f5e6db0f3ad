#include "core/ops/numerics.h"

#include "core/ops/is_among.h"

namespace halftone::ops {
namespace {

using Class = NumericalClass;

Class classOf(UnaryKind kind)
{
    switch (kind) {
    case UnaryKind::Identity:
    case UnaryKind::StopGradient:
    case UnaryKind::MakeLoss:
    case UnaryKind::ZerosLike:
    case UnaryKind::OnesLike:
        return Class::DataMovement;
    case UnaryKind::LogicalNot:
    case UnaryKind::IsNaN:
    case UnaryKind::BitNot:
    case UnaryKind::Sign:
    case UnaryKind::SignOrNaN:
        return Class::Comparison;
    case UnaryKind::Exp:
    case UnaryKind::Expm1:
    case UnaryKind::Log:
    case UnaryKind::Log10:
    case UnaryKind::Log1p:
    case UnaryKind::Log2:
    case UnaryKind::Square:
    case UnaryKind::Rsqrt:
    case UnaryKind::Rcbrt:
    case UnaryKind::Reciprocal:
    case UnaryKind::Gamma:
    case UnaryKind::GammaLn:
    case UnaryKind::Tan:
    case UnaryKind::Sinh:
    case UnaryKind::Cosh:
    case UnaryKind::ErfInv:
    case UnaryKind::Arctanh:
    case UnaryKind::Degrees:
    case UnaryKind::Softplus:
        return Class::RangeSensitive;
    default:
        return Class::ElementwiseSafe;
    }
}

Class classOf(BinaryKind kind)
{
    switch (kind) {
    case BinaryKind::Add:
    case BinaryKind::Sub:
    case BinaryKind::Maximum:
    case BinaryKind::Minimum:
        return Class::ElementwiseSafe;
    case BinaryKind::Mul:
    case BinaryKind::Div:
    case BinaryKind::Mod:
    case BinaryKind::Fmod:
    case BinaryKind::Pow:
    case BinaryKind::Power:
    case BinaryKind::Hypot:
        return Class::RangeSensitive;
    default:
        return Class::Comparison;
    }
}

Class classOf(Reduce::Kind kind)
{
    const bool selects = kind == Reduce::Kind::Max || kind == Reduce::Kind::Min;
    return selects ? Class::Comparison : Class::Reduction;
}

Class classOf(LinearAlgebra::Kind kind)
{
    using Kind = LinearAlgebra::Kind;
    switch (kind) {
    case Kind::Symmetric:
    case Kind::TriangularProduct:
        return Class::MatrixProduct;
    case Kind::ExtractDiagonal:
    case Kind::MakeDiagonal:
    case Kind::ExtractTriangle:
    case Kind::MakeTriangle:
        return Class::DataMovement;
    case Kind::LogDiagonalSum:
        return Class::Reduction;
    default:
        return Class::RangeSensitive;
    }
}

template <class T>
Class classOf(const T &op);

/// Integers have no range to leave; what the operator is stays what it is.
template <class T>
Class classOf(const Quantized<T> &op)
{
    return classOf(op.op);
}

template <class T>
Class classOf(const T &op)
{
    if constexpr (kIsAmong<T, Unary, Activation, Binary, ScalarBinary, Reduce, LinearAlgebra>)
        return classOf(op.kind);
    else if constexpr (kIsAmong<T, Pool>)
        return op.kind == Pool::Kind::Max ? Class::Comparison : Class::Reduction;
    else if constexpr (kIsAmong<T, Conv, ConvTranspose, FullyConnected, MatMul, Gemm, AttentionProduct,
                                DeformConv, ColumnKronecker, FusedProduct, Recurrence, Attention, Einsum,
                                CodedConv, CodedMatMul, CodedChain, CodedSums, RowAttention>)
        return Class::MatrixProduct;
    else if constexpr (kIsAmong<T, BatchNormalization, LayerNormalization, GroupNormalization,
                                InstanceNormalization, LpNormalization, LRN, Softmax, SoftmaxActivation,
                                Moments, BatchNormRelu, BatchNormTraining, MeanVarianceNormalization>)
        return Class::Normalisation;
    else if constexpr (kIsAmong<T, SoftmaxOutput, RegressionOutput, LossOutput, SoftmaxCrossEntropy, SmoothL1,
                                BoxPrior, BoxDetection, BoxTarget, BoxNms, BoxIou, BoxDecode, BoxEncode,
                                Proposal, SamplingGrid, NonMaxSuppression, AffineGrid, CtcLoss, SvmOutput,
                                SparsityPenalty>)
        return Class::LossOrBox;
    else if constexpr (kIsAmong<T, ArgReduce, TopK, Sort, ArgSort, OneHot, ShapeOf, Range, RangeLike,
                                BoxMatch, NonZero, IsInf, IndexArray, FlatIndex, Histogram, AllFinite,
                                Multinomial, Linspace, TreeEnsemble, TfIdfVectorizer>)
        return Class::Comparison;
    else if constexpr (kIsAmong<T, LeakyRelu, Clip, HardSigmoid, Dropout, BilinearResize, Upsample, RoiPool,
                                PositionPool, RotatedRoiAlign, SpatialTransformer, Picture, Random,
                                RandomSample, Quantize, Requantize, Dequantize, Curve, ClipBetween, Resize,
                                GridSample, RoiAlign, RotaryEmbedding, QuantizeLinear, DequantizeLinear,
                                DynamicQuantizeLinear, CodedMultiply>)
        return Class::ElementwiseSafe;
    else if constexpr (kIsAmong<T, AdaptiveAveragePool, Correlation, Col2Im, CumSum, DFT, STFT, CodedAverage>)
        return Class::Reduction;
    else if constexpr (kIsAmong<T, Join>) // casts do not move past sums of one shape
        return op.kind == Join::Kind::Sum && !op.broadcast ? Class::Reduction : Class::ElementwiseSafe;
    else if constexpr (kIsAmong<T, Quadratic, Density, SupportVectors>)
        return Class::RangeSensitive;
    else if constexpr (kIsAmong<T, ControlFlow>)
        return Class::Control;
    else if constexpr (kIsAmong<T, Opaque>)
        return Class::Unknown;
    else
        return Class::DataMovement;
}

} // namespace

NumericalClass numericalClass(const Operator &op)
{
    return visit([](const auto &alternative) { return classOf(alternative); }, op);
}

} // namespace halftone::ops
