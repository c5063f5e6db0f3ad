#include "core/tensor/dtype.h"
#include "core/translate/writers.h"

#include <array>
#include <cmath>
#include <numbers>

namespace halftone::translate {
namespace {

using ops::BinaryKind;
using ops::UnaryKind;
using tensor::DType;

/// The operator of ONNX that computes the same; empty: it has none.
std::string_view unaryName(UnaryKind kind)
{
    switch (kind) {
        // clang-format off
    case UnaryKind::Identity: case UnaryKind::StopGradient: case UnaryKind::MakeLoss: return "Identity";
    case UnaryKind::Abs: return "Abs";
    case UnaryKind::Negative: return "Neg";
    case UnaryKind::Sign: case UnaryKind::SignOrNaN: return "Sign";
    case UnaryKind::Relu: return "Relu";
    case UnaryKind::Ceil: return "Ceil";
    case UnaryKind::Floor: return "Floor";
    case UnaryKind::RoundEven: return "Round";
    case UnaryKind::Sigmoid: return "Sigmoid";
    case UnaryKind::Softplus: return "Softplus";
    case UnaryKind::Softsign: return "Softsign";
    case UnaryKind::Tanh: return "Tanh";
    case UnaryKind::Erf: return "Erf";
    case UnaryKind::Exp: return "Exp";
    case UnaryKind::Log: return "Log";
    case UnaryKind::Sqrt: return "Sqrt";
    case UnaryKind::Reciprocal: return "Reciprocal";
    case UnaryKind::Sin: return "Sin";
    case UnaryKind::Cos: return "Cos";
    case UnaryKind::Tan: return "Tan";
    case UnaryKind::Arcsin: return "Asin";
    case UnaryKind::Arccos: return "Acos";
    case UnaryKind::Arctan: return "Atan";
    case UnaryKind::Sinh: return "Sinh";
    case UnaryKind::Cosh: return "Cosh";
    case UnaryKind::Arcsinh: return "Asinh";
    case UnaryKind::Arccosh: return "Acosh";
    case UnaryKind::Arctanh: return "Atanh";
    case UnaryKind::HardSwish: return "HardSwish";
    case UnaryKind::Mish: return "Mish";
    default: return {};
        // clang-format on
    }
}

Value scaled(NodeWriter &to, const Value &value, double factor)
{
    return to.add("Mul", {value, to.number("factor", factor, to.type(0))});
}

/// Those that take more than one node; kNone for what ONNX cannot say.
Value composed(NodeWriter &to, UnaryKind kind)
{
    const Value x = to.in();
    const DType type = to.type(0);
    const auto one = [&] { return to.number("one", 1, type); };
    switch (kind) {
    case UnaryKind::Square:
        return to.add("Mul", {x, x});
    case UnaryKind::Rsqrt:
        return to.add("Reciprocal", {to.add("Sqrt", {x})});
    case UnaryKind::Log10:
        return scaled(to, to.add("Log", {x}), std::numbers::log10e);
    case UnaryKind::Log2:
        return scaled(to, to.add("Log", {x}), std::numbers::log2e);
    case UnaryKind::Log1p:
        return to.add("Log", {to.add("Add", {x, one()})});
    case UnaryKind::Expm1:
        return to.add("Sub", {to.add("Exp", {x}), one()});
    case UnaryKind::Degrees:
        return scaled(to, x, 180 / std::numbers::pi);
    case UnaryKind::Radians:
        return scaled(to, x, std::numbers::pi / 180);
    case UnaryKind::ZerosLike:
        return to.add("Expand", {to.number("zero", 0, type), to.add("Shape", {x})});
    case UnaryKind::OnesLike:
        return to.add("Expand", {one(), to.add("Shape", {x})});
    case UnaryKind::Fix:
    case UnaryKind::Trunc:
        return to.add("Mul", {to.add("Sign", {x}), to.add("Floor", {to.add("Abs", {x})})});
    case UnaryKind::Round: // halves away from zero
        return to.add("Mul",
                      {to.add("Sign", {x}),
                       to.add("Floor", {to.add("Add", {to.add("Abs", {x}), to.number("half", 0.5, type)})})});
    case UnaryKind::LogicalNot:
        return to.cast(to.add("Not", {to.cast(x, type, DType::Bool)}), DType::Bool, to.outType());
    default:
        return kNone;
    }
}

Result<void> writeFunction(NodeWriter &to, UnaryKind kind)
{
    const std::string_view name = unaryName(kind);
    Value value = kNone;
    if (!name.empty()) {
        value = to.add(name, {to.in()});
    } else if (kind == UnaryKind::DivideBySqrtDim) {
        HALFTONE_TRY(const std::size_t rank, to.rank());
        if (rank == 0 || to.shape(0)[rank - 1] < 1)
            return to.unknownShape();
        value = scaled(to, to.in(), 1 / std::sqrt(static_cast<double>(to.shape(0)[rank - 1])));
    } else {
        value = composed(to, kind);
    }
    if (value == kNone)
        return to.refuse("has no counterpart in ONNX");
    to.set(value);
    return {};
}

Result<void> writeUnary(NodeWriter &to, const ops::Unary &op)
{
    return writeFunction(to, op.kind);
}

Result<void> writeActivation(NodeWriter &to, const ops::Activation &op)
{
    return writeFunction(to, op.kind);
}

/// x · Φ(x)
Value gelu(NodeWriter &to)
{
    const DType type = to.type(0);
    const Value error
        = to.add("Erf", {to.add("Mul", {to.in(), to.number("factor", std::numbers::sqrt2 / 2, type)})});
    const Value twice = to.add("Add", {error, to.number("one", 1, type)});
    return to.add("Mul", {to.add("Mul", {to.in(), twice}), to.number("half", 0.5, type)});
}

/// Slopes of the channels stand in front of axes of 1, so that they stretch over what lies behind.
Result<void> writePRelu(NodeWriter &to, const ops::LeakyRelu &op)
{
    Value slopes = to.cast(to.in(1), to.type(1), to.type(0));
    HALFTONE_TRY(const std::size_t rank, to.rank());
    if (!op.stretches && to.shape(1).rank() == 1 && rank > 2) {
        ops::Dims axes;
        for (std::size_t k = 2; k < rank; ++k)
            axes.push_back(static_cast<std::int64_t>(k) - 1);
        slopes = to.add("Unsqueeze", {slopes, to.integers("axes", axes)});
    }
    to.set(to.add("PRelu", {to.in(), slopes}));
    return {};
}

Result<void> writeLeakyRelu(NodeWriter &to, const ops::LeakyRelu &op)
{
    using Kind = ops::LeakyRelu::Kind;
    switch (op.kind) {
    case Kind::PRelu:
        return writePRelu(to, op);
    case Kind::Leaky:
        to.set(to.add("LeakyRelu", {to.in()}, {{"alpha", text(op.slope)}}));
        break;
    case Kind::RandomRelu: // outside training
        to.set(to.add("LeakyRelu", {to.in()}, {{"alpha", text((op.lowerBound + op.upperBound) / 2)}}));
        break;
    case Kind::Elu:
        to.set(to.add("Elu", {to.in()}, {{"alpha", text(op.slope)}}));
        break;
    case Kind::Selu:
        to.set(to.add("Selu", {to.in()}));
        break;
    case Kind::Gelu:
        to.set(gelu(to));
        break;
    }
    return {};
}

struct BinaryName
{
    std::string_view op;
    enum class Takes
    {
        Numbers,
        Truths
    } takes
        = Takes::Numbers;
    bool givesTruths = false;
    bool isNegated = false;
};

std::optional<BinaryName> binaryName(BinaryKind kind)
{
    using enum BinaryName::Takes;
    switch (kind) {
        // clang-format off
    case BinaryKind::Add: return BinaryName{"Add"};
    case BinaryKind::Sub: return BinaryName{"Sub"};
    case BinaryKind::Mul: return BinaryName{"Mul"};
    case BinaryKind::Div: return BinaryName{"Div"};
    case BinaryKind::Power: return BinaryName{"Pow"};
    case BinaryKind::Maximum: return BinaryName{"Max"};
    case BinaryKind::Minimum: return BinaryName{"Min"};
    case BinaryKind::Equal: return BinaryName{"Equal", Numbers, true};
    case BinaryKind::NotEqual: return BinaryName{"Equal", Numbers, true, true};
    case BinaryKind::Greater: return BinaryName{"Greater", Numbers, true};
    case BinaryKind::GreaterEqual: return BinaryName{"GreaterOrEqual", Numbers, true};
    case BinaryKind::Lesser: return BinaryName{"Less", Numbers, true};
    case BinaryKind::LesserEqual: return BinaryName{"LessOrEqual", Numbers, true};
    case BinaryKind::LogicalAnd: return BinaryName{"And", Truths, true};
    case BinaryKind::LogicalOr: return BinaryName{"Or", Truths, true};
    case BinaryKind::LogicalXor: return BinaryName{"Xor", Truths, true};
    default: return std::nullopt;
        // clang-format on
    }
}

/// `a` and `b` are of type `type`.
Result<void> writePair(NodeWriter &to, BinaryKind kind, Value a, Value b, DType type)
{
    if (kind == BinaryKind::Hypot) {
        to.set(to.add("Sqrt", {to.add("Add", {to.add("Mul", {a, a}), to.add("Mul", {b, b})})}));
        return {};
    }
    const auto name = binaryName(kind);
    if (!name)
        return to.refuse("has no counterpart in ONNX");
    if (name->takes == BinaryName::Takes::Truths) {
        a = to.cast(a, type, DType::Bool);
        b = to.cast(b, type, DType::Bool);
    }
    Value value = to.add(name->op, {a, b});
    if (name->isNegated)
        value = to.add("Not", {value});
    to.set(name->givesTruths ? to.cast(value, DType::Bool, to.outType()) : value);
    return {};
}

Result<void> writeBinary(NodeWriter &to, const ops::Binary &op)
{
    return writePair(to, op.kind, to.in(0), to.cast(to.in(1), to.type(1), to.type(0)), to.type(0));
}

Result<void> writeScalarBinary(NodeWriter &to, const ops::ScalarBinary &op)
{
    // Integers joined with a number that is none give what MXNet makes of it; the numbers here are of the data's type.
    if (!tensor::isFloat(to.type(0)) && !op.scalarIsInteger)
        return to.refuse("combines integers with a fractional scalar");
    const Value constant = to.number("scalar", op.scalar, to.type(0));
    if (op.reversed)
        return writePair(to, op.kind, constant, to.in(), to.type(0));
    return writePair(to, op.kind, to.in(), constant, to.type(0));
}

Result<void> writeClip(NodeWriter &to, const ops::Clip &op)
{
    to.set(to.add("Clip",
                  {to.in(), to.number("min", op.low, to.type(0)), to.number("max", op.high, to.type(0))}));
    return {};
}

Result<void> writeHardSigmoid(NodeWriter &to, const ops::HardSigmoid &op)
{
    to.set(to.add("HardSigmoid", {to.in()}, {{"alpha", text(op.alpha)}, {"beta", text(op.beta)}}));
    return {};
}

Result<void> writeSmoothL1(NodeWriter &to, const ops::SmoothL1 &op)
{
    const DType type = to.type(0);
    const double square = op.sigma.value_or(1) * op.sigma.value_or(1);
    const Value size = to.add("Abs", {to.in()});
    const Value near
        = to.add("Mul", {to.add("Mul", {to.in(), to.in()}), to.number("curvature", square / 2, type)});
    const Value far = to.add("Sub", {size, to.number("offset", 0.5 / square, type)});
    const Value isNear = to.add("Less", {size, to.number("edge", 1 / square, type)});
    to.set(to.add("Where", {isNear, near, far}));
    return {};
}

Result<void> writeJoin(NodeWriter &to, const ops::Join &)
{
    if (tensor::isFloat(to.outType())) {
        to.set(to.add("Sum", to.inputs()));
        return {};
    }
    Value sum = to.in();
    for (std::size_t k = 1; k < to.inputCount(); ++k)
        sum = to.add("Add", {sum, to.in(k)});
    to.set(to.inputCount() == 1 ? to.add("Identity", {sum}) : sum);
    return {};
}

Result<void> writeWhere(NodeWriter &to, const ops::Where &op)
{
    Value condition = to.cast(to.in(0), to.type(0), DType::Bool);
    if (!op.broadcast && to.shape(0).rank() == 1) {
        HALFTONE_TRY(const std::size_t rank, to.rank(1));
        ops::Dims axes;
        for (std::size_t k = 1; k < rank; ++k)
            axes.push_back(static_cast<std::int64_t>(k));
        if (!axes.empty())
            condition = to.add("Unsqueeze", {condition, to.integers("axes", axes)});
    }
    to.set(to.add("Where", {condition, to.in(1), to.in(2)}));
    return {};
}

Result<void> writeDropout(NodeWriter &to, const ops::Dropout &op)
{
    if (op.always)
        return to.refuse("drops values outside training too");
    to.set(to.in());
    return {};
}

Result<void> writeCast(NodeWriter &to, const ops::Cast &op)
{
    const bool passes = op.floatsOnly && (!tensor::isFloat(to.type(0)) || to.type(0) == DType::F64);
    to.set(passes ? to.in() : to.cast(to.in(), to.type(0), op.dtype));
    return {};
}

Result<void> writeMultiCast(NodeWriter &to, const ops::MultiCast &)
{
    for (std::size_t k = 0; k < to.inputCount(); ++k)
        to.set(to.cast(to.in(k), to.type(k), to.outType(k)), k);
    return {};
}

Result<void> writePassed(NodeWriter &to)
{
    to.set(to.in());
    return {};
}

Result<void> writeRegressionOutput(NodeWriter &to, const ops::RegressionOutput &op)
{
    return op.kind == ops::RegressionOutput::Kind::Logistic ? writeFunction(to, UnaryKind::Sigmoid)
                                                            : writePassed(to);
}

Result<void> writeLossOutput(NodeWriter &to, const ops::LossOutput &)
{
    return writePassed(to);
}

Result<void> writeSvmOutput(NodeWriter &to, const ops::SvmOutput &)
{
    return writePassed(to);
}

Result<void> writeSparsityPenalty(NodeWriter &to, const ops::SparsityPenalty &)
{
    return writePassed(to);
}

Result<void> writeQuadratic(NodeWriter &to, const ops::Quadratic &op)
{
    const DType type = to.type(0);
    const Value line
        = to.add("Add", {to.add("Mul", {to.in(), to.number("a", op.a, type)}), to.number("b", op.b, type)});
    to.set(to.add("Add", {to.add("Mul", {line, to.in()}), to.number("c", op.c, type)}));
    return {};
}

} // namespace

std::span<const WriterRow> elementwiseWriters()
{
    static constexpr std::array kRows{
        writes<ops::Unary, writeUnary>(),
        writes<ops::Activation, writeActivation>(),
        writes<ops::LeakyRelu, writeLeakyRelu>(),
        writes<ops::Binary, writeBinary>(),
        writes<ops::ScalarBinary, writeScalarBinary>(),
        writes<ops::Clip, writeClip>(),
        writes<ops::HardSigmoid, writeHardSigmoid>(),
        writes<ops::SmoothL1, writeSmoothL1>(),
        writes<ops::Join, writeJoin>(),
        writes<ops::Where, writeWhere>(),
        writes<ops::Dropout, writeDropout>(),
        writes<ops::Cast, writeCast>(),
        writes<ops::MultiCast, writeMultiCast>(),
        writes<ops::RegressionOutput, writeRegressionOutput>(),
        writes<ops::LossOutput, writeLossOutput>(),
        writes<ops::SvmOutput, writeSvmOutput>(),
        writes<ops::SparsityPenalty, writeSparsityPenalty>(),
        writes<ops::Quadratic, writeQuadratic>(),
    };
    return kRows;
}

} // namespace halftone::translate
