#include "core/runtime/element_function.h"

#include <limits>

namespace halftone::runtime {
namespace {

using Kind = ElementFunction::Kind;
using ops::UnaryKind;

std::optional<ElementFunction> ofKind(UnaryKind kind)
{
    switch (kind) {
    case UnaryKind::Relu:
        return ElementFunction{Kind::Relu};
    case UnaryKind::Sigmoid:
        return ElementFunction{Kind::Sigmoid};
    case UnaryKind::Tanh:
        return ElementFunction{Kind::Tanh};
    case UnaryKind::Softplus:
        return ElementFunction{Kind::Softplus};
    case UnaryKind::Abs:
        return ElementFunction{Kind::Abs};
    case UnaryKind::Square:
        return ElementFunction{Kind::Square};
    case UnaryKind::Sqrt:
        return ElementFunction{Kind::Sqrt};
    case UnaryKind::Exp:
        return ElementFunction{Kind::Exp};
    case UnaryKind::Log:
        return ElementFunction{Kind::Log};
    case UnaryKind::Rint:
        return ElementFunction{Kind::Round};
    case UnaryKind::Negative:
        return ElementFunction{Kind::Linear, -1, 0};
    case UnaryKind::Rsqrt:
        return ElementFunction{Kind::Power, 1, -0.5F};
    case UnaryKind::Reciprocal:
        return ElementFunction{Kind::Power, 1, -1};
    default:
        return std::nullopt;
    }
}

std::optional<ElementFunction> ofLeaky(const ops::LeakyRelu &leaky)
{
    using LeakyKind = ops::LeakyRelu::Kind;
    switch (leaky.kind) {
    case LeakyKind::Leaky:
        return ElementFunction{Kind::Relu, static_cast<float>(leaky.slope)};
    case LeakyKind::Elu:
        return ElementFunction{Kind::Elu, static_cast<float>(leaky.slope)};
    case LeakyKind::RandomRelu: // in inference the middle of its range
        return ElementFunction{Kind::Relu, static_cast<float>((leaky.lowerBound + leaky.upperBound) / 2)};
    case LeakyKind::Gelu:
        return ElementFunction{Kind::GeluErf};
    default:
        return std::nullopt;
    }
}

std::optional<ElementFunction> ofScalar(const ops::ScalarBinary &binary)
{
    const auto c = static_cast<float>(binary.scalar);
    switch (binary.kind) {
    case ops::BinaryKind::Add:
        return ElementFunction{Kind::Linear, 1, c};
    case ops::BinaryKind::Sub:
        return binary.reversed ? ElementFunction{Kind::Linear, -1, c} : ElementFunction{Kind::Linear, 1, -c};
    case ops::BinaryKind::Mul:
        return ElementFunction{Kind::Linear, c, 0};
    case ops::BinaryKind::Div:
        if (binary.reversed)
            return ElementFunction{Kind::Power, c, -1};
        return c == 0 ? std::nullopt : std::optional(ElementFunction{Kind::Linear, 1 / c, 0});
    case ops::BinaryKind::Power:
        return binary.reversed ? std::nullopt : std::optional(ElementFunction{Kind::Power, 1, c});
    case ops::BinaryKind::Maximum:
        return ElementFunction{Kind::Clip, c, std::numeric_limits<float>::infinity()};
    case ops::BinaryKind::Minimum:
        return ElementFunction{Kind::Clip, -std::numeric_limits<float>::infinity(), c};
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<ElementFunction> elementFunction(const ops::Operator &op)
{
    if (const auto *unary = op.getIf<ops::Unary>())
        return ofKind(unary->kind);
    if (const auto *activation = op.getIf<ops::Activation>())
        return ofKind(activation->kind);
    if (const auto *leaky = op.getIf<ops::LeakyRelu>())
        return ofLeaky(*leaky);
    if (const auto *scalar = op.getIf<ops::ScalarBinary>())
        return ofScalar(*scalar);
    if (const auto *clip = op.getIf<ops::Clip>())
        return ElementFunction{Kind::Clip, static_cast<float>(clip->low), static_cast<float>(clip->high)};
    if (const auto *hard = op.getIf<ops::HardSigmoid>())
        return ElementFunction{Kind::HardSigmoid, static_cast<float>(hard->alpha),
                               static_cast<float>(hard->beta)};
    return std::nullopt;
}

} // namespace halftone::runtime
