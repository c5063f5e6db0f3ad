#include "core/dialect/onnx/operator_rows.h"

#include <array>
#include <limits>

/// Operators that compute each element from those at its place.
namespace halftone::dialect::onnx {
namespace {

using ops::BinaryKind;
using ops::Curve;
using ops::Join;
using ops::LeakyRelu;
using ops::Operator;
using ops::UnaryKind;

template <UnaryKind kind>
Operator unary(NodeReader &)
{
    return ops::Unary{kind};
}

template <BinaryKind kind>
Operator binary(NodeReader &)
{
    return ops::Binary{kind, true};
}

template <Join::Kind kind>
Operator join(NodeReader &in)
{
    if (kind != Join::Kind::Mean && in.inputCount() == 2)
        return ops::Binary{kind == Join::Kind::Maximum       ? BinaryKind::Maximum
                               : kind == Join::Kind::Minimum ? BinaryKind::Minimum
                                                             : BinaryKind::Add,
                           true};
    return Join{kind, static_cast<std::int64_t>(in.inputCount()), true};
}

Operator mod(NodeReader &in)
{
    return ops::Binary{in.boolean("fmod") ? BinaryKind::Fmod : BinaryKind::Mod, true};
}

Operator bitShift(NodeReader &in)
{
    static constexpr std::array<std::string_view, 2> kDirections{"LEFT", "RIGHT"};
    return ops::Binary{
        in.choice("direction", kDirections) == 0 ? BinaryKind::ShiftLeft : BinaryKind::ShiftRight, true};
}

Operator where(NodeReader &)
{
    return ops::Where{.broadcast = true};
}

Operator cast(NodeReader &in)
{
    const tensor::DType to = in.type("to");
    return ops::Cast{to, false, in.boolean("saturate", true) && tensor::isForAnalysis(to)};
}

/// To the second input's type, which the type rule knows.
Operator castLike(NodeReader &in)
{
    return ops::Cast{.saturates = in.boolean("saturate", true)};
}

/// Bounds that are known and in their order are the struct's own, which backends fuse.
Operator clip(NodeReader &in)
{
    constexpr double kMost = std::numeric_limits<float>::max();
    if (in.opset() < 11 || in.has("min") || in.has("max")) // of an older opset until it is written
        return ops::Clip{in.real("min", -kMost), in.real("max", kMost)};
    const bool hasLow = in.hasInput(1);
    const bool hasHigh = in.hasInput(2);
    const auto isFloat = [&](std::size_t slot) {
        return in.knownValue(slot) != nullptr && tensor::isFloat(in.knownValue(slot)->dtype());
    };
    if ((hasLow || hasHigh) && (!hasLow || isFloat(1)) && (!hasHigh || isFloat(2))) {
        constexpr double kEndless = std::numeric_limits<double>::infinity();
        const double low = in.optionalRealAt(1).value_or(-kEndless);
        const double high = in.optionalRealAt(2).value_or(kEndless);
        if (low <= high)
            return ops::Clip{low, high};
    }
    return ops::ClipBetween{hasLow, hasHigh};
}

template <LeakyRelu::Kind kind>
Operator sloped(NodeReader &in)
{
    return LeakyRelu{.kind = kind, .slope = in.real("alpha")};
}

Operator prelu(NodeReader &)
{
    return LeakyRelu{.kind = LeakyRelu::Kind::PRelu, .stretches = true};
}

Operator gelu(NodeReader &in)
{
    static constexpr std::array<std::string_view, 2> kForms{"none", "tanh"};
    if (in.choice("approximate", kForms) == 1)
        return ops::Unary{UnaryKind::GeluTanh};
    return LeakyRelu{.kind = LeakyRelu::Kind::Gelu};
}

/// The exact form, which has no attributes there.
template <Curve::Kind kind>
Operator curve(NodeReader &in)
{
    return Curve{kind, in.real("alpha", 1), 0};
}

Operator selu(NodeReader &in)
{
    return LeakyRelu{.kind = LeakyRelu::Kind::Selu, .slope = in.real("alpha"), .scale = in.real("gamma")};
}

Operator shrink(NodeReader &in)
{
    return Curve{Curve::Kind::Shrink, in.real("lambd"), in.real("bias")};
}

Operator hardSigmoid(NodeReader &in)
{
    return ops::HardSigmoid{in.real("alpha"), in.real("beta")};
}

Operator isInf(NodeReader &in)
{
    return ops::IsInf{in.boolean("detect_negative", true), in.boolean("detect_positive", true)};
}

Operator dropout(NodeReader &in)
{
    return ops::Dropout{.p = in.opset() < 12 ? in.real("ratio", 0.5) : 0.5};
}

} // namespace

std::span<const OperatorRow> elementwiseRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"Identity", unary<UnaryKind::Identity>},
        OperatorRow{"Abs", unary<UnaryKind::Abs>},
        OperatorRow{"Neg", unary<UnaryKind::Negative>},
        OperatorRow{"Sign", unary<UnaryKind::SignOrNaN>},
        OperatorRow{"Relu", unary<UnaryKind::Relu>},
        OperatorRow{"Ceil", unary<UnaryKind::Ceil>},
        OperatorRow{"Floor", unary<UnaryKind::Floor>},
        OperatorRow{"Round", unary<UnaryKind::RoundEven>},
        OperatorRow{"Not", unary<UnaryKind::LogicalNot>},
        OperatorRow{"BitwiseNot", unary<UnaryKind::BitNot>},
        OperatorRow{"Sigmoid", unary<UnaryKind::Sigmoid>},
        OperatorRow{"Softplus", unary<UnaryKind::Softplus>},
        OperatorRow{"Softsign", unary<UnaryKind::Softsign>},
        OperatorRow{"Tanh", unary<UnaryKind::Tanh>},
        OperatorRow{"Erf", unary<UnaryKind::Erf>},
        OperatorRow{"Exp", unary<UnaryKind::Exp>},
        OperatorRow{"Log", unary<UnaryKind::Log>},
        OperatorRow{"Sqrt", unary<UnaryKind::Sqrt>},
        OperatorRow{"Reciprocal", unary<UnaryKind::Reciprocal>},
        OperatorRow{"Sin", unary<UnaryKind::Sin>},
        OperatorRow{"Cos", unary<UnaryKind::Cos>},
        OperatorRow{"Tan", unary<UnaryKind::Tan>},
        OperatorRow{"Asin", unary<UnaryKind::Arcsin>},
        OperatorRow{"Acos", unary<UnaryKind::Arccos>},
        OperatorRow{"Atan", unary<UnaryKind::Arctan>},
        OperatorRow{"Sinh", unary<UnaryKind::Sinh>},
        OperatorRow{"Cosh", unary<UnaryKind::Cosh>},
        OperatorRow{"Asinh", unary<UnaryKind::Arcsinh>},
        OperatorRow{"Acosh", unary<UnaryKind::Arccosh>},
        OperatorRow{"Atanh", unary<UnaryKind::Arctanh>},
        OperatorRow{"HardSwish", unary<UnaryKind::HardSwish>},
        OperatorRow{"Mish", unary<UnaryKind::Mish>},
        OperatorRow{"IsNaN", unary<UnaryKind::IsNaN>},
        OperatorRow{"IsInf", isInf},
        OperatorRow{"Add", binary<BinaryKind::Add>},
        OperatorRow{"Sub", binary<BinaryKind::Sub>},
        OperatorRow{"Mul", binary<BinaryKind::Mul>},
        OperatorRow{"Div", binary<BinaryKind::Div>},
        OperatorRow{"Pow", binary<BinaryKind::Pow>},
        OperatorRow{"Mod", mod},
        OperatorRow{"BitShift", bitShift},
        OperatorRow{"BitwiseAnd", binary<BinaryKind::BitAnd>},
        OperatorRow{"BitwiseOr", binary<BinaryKind::BitOr>},
        OperatorRow{"BitwiseXor", binary<BinaryKind::BitXor>},
        OperatorRow{"And", binary<BinaryKind::LogicalAnd>},
        OperatorRow{"Or", binary<BinaryKind::LogicalOr>},
        OperatorRow{"Xor", binary<BinaryKind::LogicalXor>},
        OperatorRow{"Equal", binary<BinaryKind::Equal>},
        OperatorRow{"Greater", binary<BinaryKind::Greater>},
        OperatorRow{"GreaterOrEqual", binary<BinaryKind::GreaterEqual>},
        OperatorRow{"Less", binary<BinaryKind::Lesser>},
        OperatorRow{"LessOrEqual", binary<BinaryKind::LesserEqual>},
        OperatorRow{"Max", join<Join::Kind::Maximum>},
        OperatorRow{"Min", join<Join::Kind::Minimum>},
        OperatorRow{"Sum", join<Join::Kind::Sum>},
        OperatorRow{"Mean", join<Join::Kind::Mean>},
        OperatorRow{"Where", where},
        OperatorRow{"Cast", cast},
        OperatorRow{"CastLike", castLike},
        OperatorRow{"Clip", clip},
        OperatorRow{"LeakyRelu", sloped<LeakyRelu::Kind::Leaky>},
        OperatorRow{"Elu", sloped<LeakyRelu::Kind::Elu>},
        OperatorRow{"PRelu", prelu},
        OperatorRow{"Gelu", gelu},
        OperatorRow{"Selu", selu},
        OperatorRow{"Celu", curve<Curve::Kind::Celu>},
        OperatorRow{"ThresholdedRelu", curve<Curve::Kind::ThresholdedRelu>},
        OperatorRow{"Swish", curve<Curve::Kind::Swish>},
        OperatorRow{"Shrink", shrink},
        OperatorRow{"HardSigmoid", hardSigmoid},
        OperatorRow{"Dropout", dropout},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
