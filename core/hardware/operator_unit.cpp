#include "core/hardware/operator_unit.h"

#include "core/ops/is_among.h"
#include "core/ops/numerics.h"

namespace halftone::hardware {
namespace {

Unit unitOf(ops::UnaryKind kind)
{
    using enum ops::UnaryKind;
    switch (kind) {
    case Exp:
    case Expm1:
    case Log:
    case Log10:
    case Log1p:
    case Log2:
    case Erf:
    case ErfInv:
    case Gamma:
    case GammaLn:
        return Unit::Softmax;
    case Identity:
    case StopGradient:
    case MakeLoss:
    case ZerosLike:
    case OnesLike:
        return Unit::Movement;
    default:
        return Unit::Elementwise;
    }
}

Unit unitOf(ops::BinaryKind kind)
{
    return kind == ops::BinaryKind::Power || kind == ops::BinaryKind::Pow ? Unit::Softmax : Unit::Elementwise;
}

/// Where the struct alone does not say it.
Unit unitOfClass(const ops::Operator &op)
{
    switch (ops::numericalClass(op)) {
    case ops::NumericalClass::DataMovement:
        return Unit::Movement;
    case ops::NumericalClass::MatrixProduct:
        return Unit::Gemm;
    case ops::NumericalClass::Reduction:
        return Unit::Reduction;
    case ops::NumericalClass::Normalisation:
        return Unit::Normalization;
    default:
        return Unit::Elementwise;
    }
}

template <class T>
std::optional<Unit> unitOfStruct(const T &op, const ops::Operator &whole)
{
    using namespace ops;
    if constexpr (kIsAmong<T, Opaque, ControlFlow, Cast, MultiCast, Quantize, Requantize, Dequantize,
                           QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear>)
        return std::nullopt;
    else if constexpr (kIsAmong<T, FusedProduct>)
        return op.conv ? Unit::Conv : Unit::Gemm;
    else if constexpr (kIsAmong<T, Conv, ConvTranspose, DeformConv, CodedConv, Quantized<Conv>>)
        return Unit::Conv;
    else if constexpr (kIsAmong<T, Softmax, SoftmaxActivation, SoftmaxOutput, SoftmaxCrossEntropy>)
        return Unit::Softmax;
    else if constexpr (kIsAmong<T, Unary, Activation, Binary, ScalarBinary, Quantized<Activation>,
                                Quantized<Binary>>) {
        if constexpr (requires { op.kind; })
            return unitOf(op.kind);
        else
            return Unit::Elementwise;
    } else if constexpr (kIsAmong<T, Pool, AdaptiveAveragePool, Quantized<Pool>, RoiPool, PositionPool,
                                  RoiAlign, RotatedRoiAlign, Reduce, ArgReduce, TopK, Sort, ArgSort>)
        return Unit::Reduction;
    else if constexpr (kIsAmong<T, Moments>)
        return Unit::Normalization;
    else if constexpr (kIsAmong<T, Join>)
        return Unit::Elementwise;
    else
        return unitOfClass(whole);
}

} // namespace

std::optional<Unit> unitOf(const ops::Operator &op)
{
    return ops::visit([&op](const auto &one) { return unitOfStruct(one, op); }, op);
}

} // namespace halftone::hardware
