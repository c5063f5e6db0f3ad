#include "core/patterns/walk.h"

#include <algorithm>
#include <cmath>

namespace halftone::patterns {
namespace {

using ops::BinaryKind;
using ops::UnaryKind;

constexpr std::size_t kMostReaders = 16; ///< that are looked at, of one value
constexpr int kDeepest = 8; ///< operators of a polynomial, one behind the other

Cubic scaled(Cubic cubic, double scale, double shift)
{
    for (double &coefficient : cubic)
        coefficient *= scale;
    cubic[0] += shift;
    return cubic;
}

Cubic sum(const Cubic &a, const Cubic &b, double sign)
{
    Cubic result{};
    for (std::size_t k = 0; k < result.size(); ++k)
        result[k] = a[k] + sign * b[k];
    return result;
}

std::optional<Cubic> product(const Cubic &a, const Cubic &b)
{
    Cubic result{};
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t k = 0; k < b.size(); ++k) {
            if (i + k < result.size())
                result[i + k] += a[i] * b[k];
            else if (a[i] * b[k] != 0)
                return std::nullopt;
        }
    return result;
}

} // namespace

bool Walk::passes(NodeIndex node) const
{
    const ops::Operator &what = op(node);
    if (const auto *unary = what.getIf<ops::Unary>())
        return unary->kind == UnaryKind::Identity || unary->kind == UnaryKind::StopGradient;
    if (const auto *dropout = what.getIf<ops::Dropout>())
        return !dropout->always;
    return what.is<ops::Cast>();
}

ValueIndex Walk::root(ValueIndex value) const
{
    for (NodeIndex node = producer(value); node != kNone && passes(node); node = producer(value))
        value = inputs(node).front();
    return value;
}

NodeIndex Walk::producer(ValueIndex value) const
{
    const NodeIndex node = m_network.values[value].producer;
    return node != kNone && result(node) == value && !m_network.nodes[node].inputs.empty() ? node : kNone;
}

std::vector<NodeIndex> Walk::readers(ValueIndex value) const
{
    std::vector<NodeIndex> found;
    std::vector<ValueIndex> open{value};
    for (std::size_t at = 0; at < open.size() && found.size() < kMostReaders; ++at) {
        for (const NodeIndex reader : m_network.readers[open[at]]) {
            if (found.size() == kMostReaders || open.size() == kMostReaders)
                break;
            if (passes(reader))
                open.push_back(result(reader));
            else if (std::ranges::find(found, reader) == found.end())
                found.push_back(reader);
        }
    }
    return found;
}

bool Walk::isProduct(NodeIndex node) const
{
    const CallFacts *const facts = call(node);
    return op(node).is<ops::MatMul>() || op(node).is<ops::Gemm>() || op(node).is<ops::FullyConnected>()
        || (facts != nullptr && facts->multiplies);
}

bool Walk::isAttention(NodeIndex node) const
{
    const CallFacts *const facts = call(node);
    return op(node).is<ops::Attention>() || (facts != nullptr && facts->attends);
}

bool Walk::isBinary(NodeIndex node, BinaryKind kind) const
{
    const auto *binary = op(node).getIf<ops::Binary>();
    if (binary != nullptr && kind == BinaryKind::Add && inputs(node).size() != 2)
        return false;
    return binary != nullptr && binary->kind == kind;
}

bool Walk::isUnary(NodeIndex node, UnaryKind kind) const
{
    if (const auto *activation = op(node).getIf<ops::Activation>())
        return activation->kind == kind;
    const auto *unary = op(node).getIf<ops::Unary>();
    return unary != nullptr && unary->kind == kind;
}

ValueIndex Walk::other(NodeIndex node, ValueIndex value) const
{
    const auto both = inputs(node);
    if (both.size() != 2)
        return kNone;
    return isSame(both[0], value) ? both[1] : isSame(both[1], value) ? both[0] : kNone;
}

std::optional<Affine> Walk::affine(NodeIndex node) const
{
    if (isUnary(node, UnaryKind::Negative))
        return Affine{inputs(node)[0], -1, 0};
    BinaryKind kind = BinaryKind::Add;
    double c = 0;
    bool isReversed = false;
    ValueIndex x = kNone;
    if (const auto *with = op(node).getIf<ops::ScalarBinary>()) {
        kind = with->kind;
        c = with->scalar;
        isReversed = with->reversed;
        x = inputs(node)[0];
    } else if (const auto *binary = op(node).getIf<ops::Binary>()) {
        const auto left = scalar(inputs(node)[0]);
        const auto right = scalar(inputs(node)[1]);
        if (left.has_value() == right.has_value())
            return std::nullopt;
        kind = binary->kind;
        c = left ? *left : *right;
        isReversed = left.has_value();
        x = inputs(node)[isReversed ? 1 : 0];
    } else {
        return std::nullopt;
    }
    switch (kind) {
    case BinaryKind::Add:
        return Affine{x, 1, c};
    case BinaryKind::Sub:
        return isReversed ? Affine{x, -1, c} : Affine{x, 1, -c};
    case BinaryKind::Mul:
        return Affine{x, c, 0};
    case BinaryKind::Div:
        return isReversed || c == 0 ? std::nullopt : std::optional(Affine{x, 1 / c, 0});
    default:
        return std::nullopt;
    }
}

std::optional<double> Walk::exponent(NodeIndex node) const
{
    if (const auto *unary = op(node).getIf<ops::Unary>()) {
        switch (unary->kind) {
        case UnaryKind::Square:
            return 2;
        case UnaryKind::Sqrt:
            return 0.5;
        case UnaryKind::Rsqrt:
            return -0.5;
        case UnaryKind::Reciprocal:
            return -1;
        default:
            return std::nullopt;
        }
    }
    if (const auto *with = op(node).getIf<ops::ScalarBinary>()) {
        if (with->kind == BinaryKind::Power && !with->reversed)
            return with->scalar;
        return with->kind == BinaryKind::Div && with->reversed && with->scalar == 1 ? std::optional(-1.0)
                                                                                    : std::nullopt;
    }
    if (isBinary(node, BinaryKind::Pow) || isBinary(node, BinaryKind::Power))
        return scalar(inputs(node)[1]);
    if (isBinary(node, BinaryKind::Mul) && isSame(inputs(node)[0], inputs(node)[1]))
        return 2;
    return std::nullopt;
}

std::optional<Cubic> Walk::cubicOf(ValueIndex value, ValueIndex x, int depth,
                                   std::vector<NodeIndex> &nodes) const
{
    if (isSame(value, x))
        return Cubic{0, 1, 0, 0};
    if (const auto constant = scalar(value))
        return Cubic{*constant, 0, 0, 0};
    const NodeIndex node = producer(root(value));
    if (node == kNone || depth == 0)
        return std::nullopt;
    nodes.push_back(node);
    const auto of = [&](ValueIndex input) { return cubicOf(input, x, depth - 1, nodes); };
    if (const auto step = affine(node)) {
        const auto inner = of(step->x);
        return inner ? std::optional(scaled(*inner, step->scale, step->shift)) : std::nullopt;
    }
    if (const auto power = exponent(node)) {
        const auto base = of(inputs(node)[0]);
        if (!base || (*power != 2 && *power != 3))
            return std::nullopt;
        const auto square = product(*base, *base);
        return *power == 2 || !square ? square : product(*square, *base);
    }
    const bool isSum = isBinary(node, BinaryKind::Add);
    if (!isSum && !isBinary(node, BinaryKind::Sub) && !isBinary(node, BinaryKind::Mul))
        return std::nullopt;
    const auto left = of(inputs(node)[0]);
    const auto right = left ? of(inputs(node)[1]) : std::nullopt;
    if (!right)
        return std::nullopt;
    return isBinary(node, BinaryKind::Mul) ? product(*left, *right) : sum(*left, *right, isSum ? 1 : -1);
}

std::optional<Cubic> Walk::cubic(ValueIndex value, ValueIndex x, std::vector<NodeIndex> &nodes) const
{
    return cubicOf(value, x, kDeepest, nodes);
}

const ops::Reduce *Walk::reduction(NodeIndex node, ops::Reduce::Kind kind) const
{
    const auto *reduce = op(node).getIf<ops::Reduce>();
    const bool is = reduce != nullptr && reduce->kind == kind && reduce->keepDims && !reduce->eachElement
        && !reduce->exclude && !m_network.nodes[node].isKindOnly;
    return is ? reduce : nullptr;
}

} // namespace halftone::patterns
