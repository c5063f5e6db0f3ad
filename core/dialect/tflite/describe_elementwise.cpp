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

Operator dequantize(NodeFields &in)
{
    return ops::DequantizeLinear{in.integer(kAxisKey), 0, in.hasInput(2)};
}

} // namespace

std::span<const OperatorRow> elementwiseRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"ABS", unary<UnaryKind::Abs>},
        OperatorRow{"CEIL", unary<UnaryKind::Ceil>},
        OperatorRow{"COS", unary<UnaryKind::Cos>},
        OperatorRow{"EXP", unary<UnaryKind::Exp>},
        OperatorRow{"FLOOR", unary<UnaryKind::Floor>},
        OperatorRow{"HARD_SWISH", unary<UnaryKind::HardSwish>},
        OperatorRow{"LOG", unary<UnaryKind::Log>},
        OperatorRow{"LOGICAL_NOT", unary<UnaryKind::LogicalNot>},
        OperatorRow{"LOGISTIC", unary<UnaryKind::Sigmoid>},
        OperatorRow{"NEG", unary<UnaryKind::Negative>},
        OperatorRow{"READ_VARIABLE", unary<UnaryKind::Identity>},
        OperatorRow{"RELU", unary<UnaryKind::Relu>},
        OperatorRow{"ROUND", unary<UnaryKind::RoundEven>},
        OperatorRow{"RSQRT", unary<UnaryKind::Rsqrt>},
        OperatorRow{"SIGN", unary<UnaryKind::Sign>},
        OperatorRow{"SIN", unary<UnaryKind::Sin>},
        OperatorRow{"SQRT", unary<UnaryKind::Sqrt>},
        OperatorRow{"SQUARE", unary<UnaryKind::Square>},
        OperatorRow{"TANH", unary<UnaryKind::Tanh>},
        OperatorRow{"ZEROS_LIKE", unary<UnaryKind::ZerosLike>},
        OperatorRow{"ADD", binary<BinaryKind::Add>},
        OperatorRow{"SUB", binary<BinaryKind::Sub>},
        OperatorRow{"MUL", binary<BinaryKind::Mul>},
        OperatorRow{"DIV", binary<BinaryKind::Div>},
        OperatorRow{"FLOOR_MOD", binary<BinaryKind::Mod>},
        OperatorRow{"POW", binary<BinaryKind::Pow>},
        OperatorRow{"MAXIMUM", binary<BinaryKind::Maximum>},
        OperatorRow{"MINIMUM", binary<BinaryKind::Minimum>},
        OperatorRow{"EQUAL", binary<BinaryKind::Equal>},
        OperatorRow{"NOT_EQUAL", binary<BinaryKind::NotEqual>},
        OperatorRow{"GREATER", binary<BinaryKind::Greater>},
        OperatorRow{"GREATER_EQUAL", binary<BinaryKind::GreaterEqual>},
        OperatorRow{"LESS", binary<BinaryKind::Lesser>},
        OperatorRow{"LESS_EQUAL", binary<BinaryKind::LesserEqual>},
        OperatorRow{"LOGICAL_AND", binary<BinaryKind::LogicalAnd>},
        OperatorRow{"LOGICAL_OR", binary<BinaryKind::LogicalOr>},
        OperatorRow{"RELU6", relu6},
        OperatorRow{"RELU_N1_TO_1", reluN1To1},
        OperatorRow{"RELU_0_TO_1", relu0To1},
        OperatorRow{"ELU", elu},
        OperatorRow{"LEAKY_RELU", leakyRelu},
        OperatorRow{"PRELU", prelu},
        OperatorRow{"GELU", gelu},
        OperatorRow{"SELECT", select},
        OperatorRow{"SELECT_V2", selectV2},
        OperatorRow{"CAST", cast},
        OperatorRow{"QUANTIZE", quantize},
        OperatorRow{"DEQUANTIZE", dequantize},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::tflite
