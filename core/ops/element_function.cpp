#include "core/ops/element_function.h"

#include "core/ops/operator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::ops {
namespace {

using FunctionKind = ElementFunction::Kind;

std::optional<ElementFunction> ofKind(UnaryKind kind)
{
    switch (kind) {
    case UnaryKind::Relu:
        return ElementFunction{FunctionKind::Relu};
    case UnaryKind::Sigmoid:
        return ElementFunction{FunctionKind::Sigmoid};
    case UnaryKind::Tanh:
        return ElementFunction{FunctionKind::Tanh};
    case UnaryKind::Softplus:
        return ElementFunction{FunctionKind::Softplus};
    case UnaryKind::Abs:
        return ElementFunction{FunctionKind::Abs};
    case UnaryKind::Square:
        return ElementFunction{FunctionKind::Square};
    case UnaryKind::Sqrt:
        return ElementFunction{FunctionKind::Sqrt};
    case UnaryKind::Exp:
        return ElementFunction{FunctionKind::Exp};
    case UnaryKind::Log:
        return ElementFunction{FunctionKind::Log};
    case UnaryKind::Negative:
        return ElementFunction{FunctionKind::Linear, -1, 0};
    case UnaryKind::Rsqrt:
        return ElementFunction{FunctionKind::Power, 1, -0.5F};
    case UnaryKind::Reciprocal:
        return ElementFunction{FunctionKind::Power, 1, -1};
    default:
        return std::nullopt;
    }
}

std::optional<ElementFunction> ofLeaky(const LeakyRelu &leaky)
{
    using LeakyKind = LeakyRelu::Kind;
    switch (leaky.kind) {
    case LeakyKind::Leaky:
        return ElementFunction{FunctionKind::Relu, static_cast<float>(leaky.slope)};
    case LeakyKind::Elu:
        return ElementFunction{FunctionKind::Elu, static_cast<float>(leaky.slope)};
    case LeakyKind::RandomRelu: // in inference the middle of its range
        return ElementFunction{FunctionKind::Relu,
                               static_cast<float>((leaky.lowerBound + leaky.upperBound) / 2)};
    case LeakyKind::Gelu:
        return ElementFunction{FunctionKind::GeluErf};
    default:
        return std::nullopt;
    }
}

std::optional<ElementFunction> ofScalar(const ScalarBinary &binary)
{
    const auto c = static_cast<float>(binary.scalar);
    switch (binary.kind) {
    case BinaryKind::Add:
        return ElementFunction{FunctionKind::Linear, 1, c};
    case BinaryKind::Sub:
        return binary.reversed ? ElementFunction{FunctionKind::Linear, -1, c}
                               : ElementFunction{FunctionKind::Linear, 1, -c};
    case BinaryKind::Mul:
        return ElementFunction{FunctionKind::Linear, c, 0};
    case BinaryKind::Div:
        if (binary.reversed)
            return ElementFunction{FunctionKind::Power, c, -1};
        return c == 0 ? std::nullopt : std::optional(ElementFunction{FunctionKind::Linear, 1 / c, 0});
    case BinaryKind::Power:
        if (binary.reversed)
            return std::nullopt;
        return c == 2   ? ElementFunction{FunctionKind::Square}
            : c == 0.5F ? ElementFunction{FunctionKind::Sqrt}
                        : ElementFunction{FunctionKind::Power, 1, c};
    case BinaryKind::Maximum:
        return ElementFunction{FunctionKind::Clip, c, std::numeric_limits<float>::infinity()};
    case BinaryKind::Minimum:
        return ElementFunction{FunctionKind::Clip, -std::numeric_limits<float>::infinity(), c};
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<ElementFunction> elementFunction(const Operator &op)
{
    if (const auto *unary = op.getIf<Unary>())
        return ofKind(unary->kind);
    if (const auto *activation = op.getIf<Activation>())
        return ofKind(activation->kind);
    if (const auto *leaky = op.getIf<LeakyRelu>())
        return ofLeaky(*leaky);
    if (const auto *scalar = op.getIf<ScalarBinary>())
        return ofScalar(*scalar);
    if (const auto *clip = op.getIf<Clip>())
        return ElementFunction{FunctionKind::Clip, static_cast<float>(clip->low),
                               static_cast<float>(clip->high)};
    if (const auto *hard = op.getIf<HardSigmoid>())
        return ElementFunction{FunctionKind::HardSigmoid, static_cast<float>(hard->alpha),
                               static_cast<float>(hard->beta)};
    return std::nullopt;
}

double valueOf(const ElementFunction &function, double x)
{
    using Kind = ElementFunction::Kind;
    switch (function.kind) {
    case Kind::Relu:
        return x > 0 ? x : double{function.alpha} * x;
    case Kind::Elu:
        return x > 0 ? x : double{function.alpha} * std::expm1(x);
    case Kind::Sigmoid:
        return 1 / (1 + std::exp(-x));
    case Kind::Tanh:
        return std::tanh(x);
    case Kind::Softplus:
        return x > 30 ? x : std::log1p(std::exp(x));
    case Kind::GeluErf:
        return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Kind::Abs:
        return std::abs(x);
    case Kind::Square:
        return x * x;
    case Kind::Sqrt:
        return std::sqrt(x);
    case Kind::Exp:
        return std::exp(x);
    case Kind::Log:
        return std::log(x);
    case Kind::Linear:
        return double{function.alpha} * x + double{function.beta};
    case Kind::Clip:
        return std::min(std::max(x, double{function.alpha}), double{function.beta});
    case Kind::Power:
        return double{function.alpha} * std::pow(x, double{function.beta});
    case Kind::HardSigmoid:
        return std::clamp(double{function.alpha} * x + double{function.beta}, 0.0, 1.0);
    }
    return x;
}

} // namespace halftone::ops
