#include "core/mixed/tvm_class.h"

#include "core/ops/is_among.h"

namespace halftone::mixed {
namespace {

using ops::BinaryKind;
using ops::LeakyRelu;
using ops::Pool;
using ops::Reduce;
using ops::Softmax;
using ops::UnaryKind;
using Class = std::optional<TvmClass>;

Class classOf(UnaryKind kind)
{
    switch (kind) {
    case UnaryKind::Identity:
    case UnaryKind::StopGradient:
    case UnaryKind::Relu:
    case UnaryKind::Sigmoid:
    case UnaryKind::Tanh:
    case UnaryKind::Sqrt:
    case UnaryKind::ZerosLike:
    case UnaryKind::OnesLike:
        return TvmClass::Follow;
    case UnaryKind::Exp:
    case UnaryKind::Erf:
    case UnaryKind::Square: // x · x there is a power here
        return TvmClass::Never;
    default:
        return std::nullopt;
    }
}

Class classOf(BinaryKind kind)
{
    switch (kind) {
    case BinaryKind::Add:
    case BinaryKind::Sub:
    case BinaryKind::Mul:
    case BinaryKind::Div:
    case BinaryKind::Maximum:
    case BinaryKind::Minimum:
    case BinaryKind::Greater:
    case BinaryKind::GreaterEqual:
    case BinaryKind::Lesser:
    case BinaryKind::LesserEqual:
        return TvmClass::Follow;
    case BinaryKind::Power:
    case BinaryKind::Pow:
        return TvmClass::Never;
    default:
        return std::nullopt;
    }
}

Class classOf(Reduce::Kind kind)
{
    switch (kind) {
    case Reduce::Kind::Max:
    case Reduce::Kind::Min:
        return TvmClass::Follow;
    case Reduce::Kind::Sum:
    case Reduce::Kind::Mean:
        return TvmClass::Never;
    default:
        return std::nullopt;
    }
}

Class classOf(LeakyRelu::Kind kind)
{
    return kind == LeakyRelu::Kind::Leaky || kind == LeakyRelu::Kind::PRelu ? Class(TvmClass::Follow)
                                                                            : std::nullopt;
}

Class classOf(const Pool &op)
{
    if (op.kind != Pool::Kind::Max && op.kind != Pool::Kind::Average)
        return std::nullopt;
    return op.kind == Pool::Kind::Average && op.global ? TvmClass::Never : TvmClass::Follow;
}

Class classOf(Softmax::Kind kind)
{
    return kind == Softmax::Kind::Softmax ? Class(TvmClass::Never) : std::nullopt;
}

template <class T>
Class classOfStruct(const T &op)
{
    using namespace ops;
    if constexpr (kIsAmong<T, Pool>)
        return classOf(op);
    else if constexpr (kIsAmong<T, Unary, Activation, Binary, ScalarBinary, Reduce, LeakyRelu, Softmax>)
        return classOf(op.kind);
    else if constexpr (kIsAmong<T, Conv, ConvTranspose, FullyConnected, MatMul, Gemm>)
        return TvmClass::Always;
    else if constexpr (kIsAmong<T, AdaptiveAveragePool, LpNormalization, SoftmaxActivation, SoftmaxOutput,
                                SoftmaxCrossEntropy, Moments, Range, RangeLike>)
        return TvmClass::Never;
    else if constexpr (kIsAmong<T, Pad, Flatten, Concat, Stack, Split, Squeeze, Transpose, SwapAxes,
                                Unsqueeze, Reshape, ReshapeLike, BroadcastAxes, BroadcastLike, Expand, Slice,
                                SliceLike, Gather, Embedding, NonZero, Where, Tile, Repeat, ScatterIntoZeros,
                                ScatterElements, ScatterND, Fill, DepthToSpace, Cast, MultiCast,
                                BatchNormalization, ShapeOf, ArgReduce, Dropout, Clip, ClipBetween,
                                BilinearResize, Resize, Upsample>)
        return TvmClass::Follow;
    else if constexpr (kIsAmong<T, LayerNormalization>)
        return op.centred ? Class(TvmClass::Never) : std::nullopt;
    else if constexpr (kIsAmong<T, Join>)
        return op.kind == Join::Kind::Mean ? std::nullopt : Class(TvmClass::Follow); // many as two by two
    else
        return std::nullopt;
}

} // namespace

std::optional<TvmClass> tvmClassOf(const ops::Operator &op)
{
    return ops::visit([](const auto &one) { return classOfStruct(one); }, op);
}

} // namespace halftone::mixed
