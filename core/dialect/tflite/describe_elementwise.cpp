#include "core/dialect/tflite/node_fields.h"
#include "core/dialect/tflite/tflite_dialect.h"

#include <array>

/// Operators on single elements.
namespace halftone::dialect::tflite {
namespace {

using ops::BinaryKind;
using ops::Operator;
using ops::UnaryKind;

template <UnaryKind kKind>
Operator unary(NodeFields &)
{
    return ops::Unary{kKind};
}

template <BinaryKind kKind>
Operator binary(NodeFields &)
{
    return ops::Binary{kKind, true};
}

Operator relu6(NodeFields &)
{
    return ops::Clip{0, 6};
}

Operator reluN1To1(NodeFields &)
{
    return ops::Clip{-1, 1};
}

Operator relu0To1(NodeFields &)
{
    return ops::Clip{0, 1};
}

Operator elu(NodeFields &)
{
    return ops::LeakyRelu{.kind = ops::LeakyRelu::Kind::Elu, .slope = 1};
}

Operator leakyRelu(NodeFields &in)
{
    return ops::LeakyRelu{.kind = ops::LeakyRelu::Kind::Leaky, .slope = in.real("alpha")};
}

Operator prelu(NodeFields &)
{
    return ops::LeakyRelu{.kind = ops::LeakyRelu::Kind::PRelu, .stretches = true};
}

Operator gelu(NodeFields &in)
{
    if (in.isSet("approximate"))
        return ops::Unary{UnaryKind::GeluTanh};
    return ops::LeakyRelu{.kind = ops::LeakyRelu::Kind::Gelu};
}

Operator select(NodeFields &)
{
    return ops::Where{false};
}

Operator selectV2(NodeFields &)
{
    return ops::Where{true};
}

Operator cast(NodeFields &in)
{
    return ops::Cast{tensor::dtypeNamed(in.text(kTypesKey)).value_or(tensor::DType::Unknown)};
}

Operator quantize(NodeFields &in)
{
    return ops::QuantizeLinear{in.integer(kAxisKey), 0, in.hasInput(2)};
}

/// Of float16 it is a cast.
Operator dequantize(NodeFields &in)
{
    if (!in.hasInput(1))
        return cast(in);
    return ops::DequantizeLinear{in.integer(kAxisKey), 0, in.hasInput(2)};
}

} // namespace

std::span<const OperatorRow> elementwiseRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"ABS", 1, unary<UnaryKind::Abs>},
        OperatorRow{"CEIL", 1, unary<UnaryKind::Ceil>},
        OperatorRow{"COS", 1, unary<UnaryKind::Cos>},
        OperatorRow{"EXP", 1, unary<UnaryKind::Exp>},
        OperatorRow{"FLOOR", 1, unary<UnaryKind::Floor>},
        OperatorRow{"HARD_SWISH", 1, unary<UnaryKind::HardSwish>},
        OperatorRow{"LOG", 1, unary<UnaryKind::Log>},
        OperatorRow{"LOGICAL_NOT", 1, unary<UnaryKind::LogicalNot>},
        OperatorRow{"LOGISTIC", 1, unary<UnaryKind::Sigmoid>},
        OperatorRow{"NEG", 1, unary<UnaryKind::Negative>},
        OperatorRow{"READ_VARIABLE", 1, unary<UnaryKind::Identity>},
        OperatorRow{"RELU", 1, unary<UnaryKind::Relu>},
        OperatorRow{"ROUND", 1, unary<UnaryKind::RoundEven>},
        OperatorRow{"RSQRT", 1, unary<UnaryKind::Rsqrt>},
        OperatorRow{"SIGN", 1, unary<UnaryKind::Sign>},
        OperatorRow{"SIN", 1, unary<UnaryKind::Sin>},
        OperatorRow{"SQRT", 1, unary<UnaryKind::Sqrt>},
        OperatorRow{"SQUARE", 1, unary<UnaryKind::Square>},
        OperatorRow{"TANH", 1, unary<UnaryKind::Tanh>},
        OperatorRow{"ZEROS_LIKE", 1, unary<UnaryKind::ZerosLike>},
        OperatorRow{"ADD", 2, binary<BinaryKind::Add>},
        OperatorRow{"SUB", 2, binary<BinaryKind::Sub>},
        OperatorRow{"MUL", 2, binary<BinaryKind::Mul>},
        OperatorRow{"DIV", 2, binary<BinaryKind::Div>},
        OperatorRow{"FLOOR_MOD", 2, binary<BinaryKind::Mod>},
        OperatorRow{"POW", 2, binary<BinaryKind::Pow>},
        OperatorRow{"MAXIMUM", 2, binary<BinaryKind::Maximum>},
        OperatorRow{"MINIMUM", 2, binary<BinaryKind::Minimum>},
        OperatorRow{"EQUAL", 2, binary<BinaryKind::Equal>},
        OperatorRow{"NOT_EQUAL", 2, binary<BinaryKind::NotEqual>},
        OperatorRow{"GREATER", 2, binary<BinaryKind::Greater>},
        OperatorRow{"GREATER_EQUAL", 2, binary<BinaryKind::GreaterEqual>},
        OperatorRow{"LESS", 2, binary<BinaryKind::Lesser>},
        OperatorRow{"LESS_EQUAL", 2, binary<BinaryKind::LesserEqual>},
        OperatorRow{"LOGICAL_AND", 2, binary<BinaryKind::LogicalAnd>},
        OperatorRow{"LOGICAL_OR", 2, binary<BinaryKind::LogicalOr>},
        OperatorRow{"RELU6", 1, relu6},
        OperatorRow{"RELU_N1_TO_1", 1, reluN1To1},
        OperatorRow{"RELU_0_TO_1", 1, relu0To1},
        OperatorRow{"ELU", 1, elu},
        OperatorRow{"LEAKY_RELU", 1, leakyRelu},
        OperatorRow{"PRELU", 2, prelu},
        OperatorRow{"GELU", 1, gelu},
        OperatorRow{"SELECT", 3, select},
        OperatorRow{"SELECT_V2", 3, selectV2},
        OperatorRow{"CAST", 1, cast},
        OperatorRow{"QUANTIZE", 2, quantize},
        OperatorRow{"DEQUANTIZE", 1, dequantize},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::tflite
