#include "core/mixed/hold/position_step.h"

#include "core/ops/is_among.h"
#include "core/ops/numerics.h"

namespace halftone::mixed {
namespace {

using ops::BinaryKind;
using ops::UnaryKind;

bool roundsToWhole(UnaryKind kind)
{
    switch (kind) {
    case UnaryKind::Ceil:
    case UnaryKind::Floor:
    case UnaryKind::Fix:
    case UnaryKind::Rint:
    case UnaryKind::Round:
    case UnaryKind::RoundEven:
    case UnaryKind::Trunc:
        return true;
    default:
        return false;
    }
}

Step stepOf(UnaryKind kind)
{
    if (roundsToWhole(kind))
        return Step::Carries;
    switch (kind) {
    case UnaryKind::ZerosLike:
    case UnaryKind::OnesLike:
        return Step::Constant;
    case UnaryKind::Identity:
    case UnaryKind::StopGradient:
    case UnaryKind::MakeLoss:
    case UnaryKind::Negative:
    case UnaryKind::Abs:
    case UnaryKind::Degrees:
    case UnaryKind::Radians:
        return Step::Carries;
    case UnaryKind::Sign:
    case UnaryKind::SignOrNaN:
    case UnaryKind::Relu:
    case UnaryKind::Exp:
    case UnaryKind::Expm1:
    case UnaryKind::Log:
    case UnaryKind::Log10:
    case UnaryKind::Log1p:
    case UnaryKind::Log2:
    case UnaryKind::Square:
    case UnaryKind::Sqrt:
    case UnaryKind::Rsqrt:
    case UnaryKind::Cbrt:
    case UnaryKind::Rcbrt:
    case UnaryKind::Reciprocal:
        return Step::Curves;
    case UnaryKind::LogicalNot:
    case UnaryKind::IsNaN:
        return Step::Truths;
    default:
        return Step::Ends;
    }
}

Step stepOf(BinaryKind kind)
{
    switch (kind) {
    case BinaryKind::Add:
    case BinaryKind::Sub:
    case BinaryKind::Mul:
    case BinaryKind::Div:
    case BinaryKind::Mod:
    case BinaryKind::Fmod:
    case BinaryKind::Maximum:
    case BinaryKind::Minimum:
        return Step::Carries;
    case BinaryKind::Power:
    case BinaryKind::Pow:
    case BinaryKind::Hypot:
        return Step::Curves;
    case BinaryKind::BitAnd:
    case BinaryKind::BitOr:
    case BinaryKind::BitXor:
    case BinaryKind::ShiftLeft:
    case BinaryKind::ShiftRight:
        return Step::Ends;
    default:
        return Step::Truths;
    }
}

template <class T>
Step stepOf(const T &op)
{
    if constexpr (ops::kIsAmong<T, ops::Unary, ops::Activation, ops::Binary, ops::ScalarBinary>)
        return stepOf(op.kind);
    else if constexpr (ops::kIsAmong<T, ops::Clip, ops::ClipBetween, ops::Join, ops::Cast, ops::Where,
                                     ops::Dropout>)
        return Step::Carries;
    else if constexpr (ops::kIsAmong<T, ops::Reduce, ops::Quadratic>)
        return Step::Curves;
    else if constexpr (ops::kIsAmong<T, ops::MatMul, ops::Gemm, ops::FullyConnected, ops::Einsum>)
        return Step::Multiplies;
    else if constexpr (ops::kIsAmong<T, ops::CumSum, ops::Range, ops::RangeLike, ops::IndexArray,
                                     ops::Linspace, ops::ArgReduce, ops::ArgSort, ops::FlatIndex>)
        return Step::Makes;
    else if constexpr (ops::kIsAmong<T, ops::Fill, ops::EyeLike>)
        return Step::Constant;
    else if constexpr (ops::kIsAmong<T, ops::OneHot, ops::IsInf, ops::AllFinite>)
        return Step::Truths;
    else if constexpr (ops::kIsAmong<T, ops::Gather, ops::Embedding, ops::GatherND, ops::GatherElements,
                                     ops::Pick, ops::BatchTake>)
        return Step::Looks;
    else
        return Step::Ends;
}

bool isInteger(tensor::DType type)
{
    return type != tensor::DType::Unknown && type != tensor::DType::Bool && !tensor::isFloat(type);
}

constexpr Need kOfData{Origin::Data, true};
constexpr Need kOfPositions{Origin::Position, true};
constexpr Need kIndex{Origin::Data, false};
constexpr Need kScale{Origin::Fixed, false};

const Need *needOf(UnaryKind kind)
{
    if (roundsToWhole(kind))
        return &kOfData;
    switch (kind) {
    case UnaryKind::Sin:
    case UnaryKind::Cos:
    case UnaryKind::Tan:
        return &kOfData;
    case UnaryKind::Exp:
    case UnaryKind::Expm1:
        return &kOfPositions;
    default:
        return nullptr;
    }
}

const Need *needOf(BinaryKind kind, bool isExponent)
{
    switch (kind) {
    case BinaryKind::Mod:
    case BinaryKind::Fmod:
        return &kOfData;
    case BinaryKind::Power:
    case BinaryKind::Pow:
        return isExponent ? &kOfPositions : nullptr;
    case BinaryKind::Equal:
    case BinaryKind::NotEqual:
    case BinaryKind::Greater:
    case BinaryKind::GreaterEqual:
    case BinaryKind::Lesser:
    case BinaryKind::LesserEqual:
        return &kOfPositions;
    default:
        return nullptr;
    }
}

template <class T>
const Need *needOf(const T &op, std::size_t input)
{
    if constexpr (ops::kIsAmong<T, ops::Unary>)
        return needOf(op.kind);
    else if constexpr (ops::kIsAmong<T, ops::Binary>)
        return needOf(op.kind, input == 1);
    else if constexpr (ops::kIsAmong<T, ops::ScalarBinary>)
        return needOf(op.kind, op.reversed);
    else if constexpr (ops::kIsAmong<T, ops::Cast>)
        return isInteger(op.dtype) ? &kOfData : nullptr;
    else if constexpr (ops::kIsAmong<T, ops::ArgReduce>)
        return &kOfPositions;
    else if constexpr (ops::kIsAmong<T, ops::Range>)
        return &kOfData;
    else if constexpr (ops::kIsAmong<T, ops::Embedding, ops::OneHot>)
        return input == 0 ? &kIndex : nullptr;
    else if constexpr (ops::kIsAmong<T, ops::Gather, ops::GatherND, ops::GatherElements, ops::Pick,
                                     ops::BatchTake>)
        return input == 1 ? &kIndex : nullptr;
    else
        return nullptr;
}

} // namespace

Step stepOf(const ops::Operator &op)
{
    const Step step = ops::visit([](const auto &alternative) { return stepOf(alternative); }, op);
    return step == Step::Ends && ops::numericalClass(op) == ops::NumericalClass::DataMovement ? Step::Carries
                                                                                              : step;
}

WaveStep waveStepOf(const ops::Operator &op)
{
    if (const auto *unary = op.getIf<ops::Unary>();
        unary != nullptr && (unary->kind == UnaryKind::Sin || unary->kind == UnaryKind::Cos))
        return WaveStep::Makes;
    if (const auto *binary = op.getIf<ops::Binary>())
        return binary->kind == BinaryKind::Mul                                   ? WaveStep::Turns
            : binary->kind == BinaryKind::Add || binary->kind == BinaryKind::Sub ? WaveStep::Sums
                                                                                 : WaveStep::Ends;
    if (op.is<ops::RotaryEmbedding>())
        return WaveStep::TurnsWhole;
    const bool moves = op.is<ops::Cast>() || ops::numericalClass(op) == ops::NumericalClass::DataMovement;
    return moves ? WaveStep::Moves : WaveStep::Ends;
}

const Need *needOf(const ops::Operator &op, std::size_t input, Purpose purpose)
{
    if (op.is<ops::Resize>())
        return input > 0 ? &kScale : nullptr;
    if (purpose == Purpose::Scales)
        return nullptr;
    return ops::visit([input](const auto &alternative) { return needOf(alternative, input); }, op);
}

} // namespace halftone::mixed
