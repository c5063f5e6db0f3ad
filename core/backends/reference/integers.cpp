#include "core/backends/reference/integers.h"

#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/reduced_strides.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace halftone::backends::reference {
namespace {

using Integer = std::int64_t;

// Narrower integers are the low bits of these.
Integer wrappedSum(Integer a, Integer b)
{
    return static_cast<Integer>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

Integer wrappedDifference(Integer a, Integer b)
{
    return static_cast<Integer>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

Integer wrappedProduct(Integer a, Integer b)
{
    return static_cast<Integer>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// Cut towards zero; by zero it is zero.
Integer wrappedQuotient(Integer a, Integer b)
{
    return b == 0 ? 0 : b == -1 ? wrappedDifference(0, a) : a / b;
}

bool isExact(ops::UnaryKind kind)
{
    using Kind = ops::UnaryKind;
    return kind == Kind::Identity || kind == Kind::StopGradient || kind == Kind::MakeLoss
        || kind == Kind::BitNot || kind == Kind::Abs || kind == Kind::Sign || kind == Kind::SignOrNaN
        || kind == Kind::Negative || kind == Kind::Relu || kind == Kind::DivideBySqrtDim;
}

bool isExact(ops::BinaryKind kind)
{
    using Kind = ops::BinaryKind;
    return kind != Kind::Mod && kind != Kind::Power && kind != Kind::Hypot;
}

bool isExact(ops::Reduce::Kind kind)
{
    using Kind = ops::Reduce::Kind;
    return kind != Kind::L1 && kind != Kind::L2 && kind != Kind::LogSum && kind != Kind::LogSumExp;
}

/// Cut towards zero, so that the rest has the sign of a; by zero it is zero.
Integer restOf(Integer a, Integer b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

/// By squaring, wrapped; a negative exponent leaves what the reciprocal has before its point.
Integer wrappedPower(Integer base, Integer exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
    Integer result = 1;
    for (; exponent > 0; exponent /= 2, base = wrappedProduct(base, base))
        if (exponent % 2 == 1)
            result = wrappedProduct(result, base);
    return result;
}

/// Bits beyond those of the type are cut when the result is stored.
Integer shifted(ops::BinaryKind kind, Integer a, Integer b)
{
    const auto bits = static_cast<std::uint64_t>(a);
    if (b < 0 || b > 63)
        return 0;
    return static_cast<Integer>(kind == ops::BinaryKind::ShiftLeft ? bits << b : bits >> b);
}

/// Where numbers of uint64, held as the int64 of the same bits, need a meaning of their own.
std::optional<Integer> joinedUnsigned(ops::BinaryKind kind, Integer signedA, Integer signedB)
{
    using Kind = ops::BinaryKind;
    const auto a = static_cast<std::uint64_t>(signedA);
    const auto b = static_cast<std::uint64_t>(signedB);
    switch (kind) {
    case Kind::Div:
        return static_cast<Integer>(b == 0 ? 0 : a / b);
    case Kind::Mod:
    case Kind::Fmod:
        return static_cast<Integer>(b == 0 ? 0 : a % b);
    case Kind::Maximum:
        return static_cast<Integer>(std::max(a, b));
    case Kind::Minimum:
        return static_cast<Integer>(std::min(a, b));
    case Kind::Greater:
        return a > b;
    case Kind::GreaterEqual:
        return a >= b;
    case Kind::Lesser:
        return a < b;
    case Kind::LesserEqual:
        return a <= b;
    default:
        return std::nullopt;
    }
}

/// Of kinds that are exact.
Integer joined(ops::BinaryKind kind, Integer a, Integer b)
{
    using Kind = ops::BinaryKind;
    switch (kind) {
    case Kind::Add:
        return wrappedSum(a, b);
    case Kind::Sub:
        return wrappedDifference(a, b);
    case Kind::Mul:
        return wrappedProduct(a, b);
    case Kind::Div:
        return wrappedQuotient(a, b);
    case Kind::Maximum:
        return std::max(a, b);
    case Kind::Minimum:
        return std::min(a, b);
    case Kind::Equal:
        return a == b;
    case Kind::NotEqual:
        return a != b;
    case Kind::Greater:
        return a > b;
    case Kind::GreaterEqual:
        return a >= b;
    case Kind::Lesser:
        return a < b;
    case Kind::LesserEqual:
        return a <= b;
    case Kind::LogicalAnd:
        return a != 0 && b != 0;
    case Kind::LogicalOr:
        return a != 0 || b != 0;
    case Kind::LogicalXor:
        return (a != 0) != (b != 0);
    case Kind::Fmod:
        return restOf(a, b);
    case Kind::Pow:
        return wrappedPower(a, b);
    case Kind::BitAnd:
        return a & b;
    case Kind::BitOr:
        return a | b;
    case Kind::BitXor:
        return a ^ b;
    case Kind::ShiftLeft:
    case Kind::ShiftRight:
        return shifted(kind, a, b);
    case Kind::Mod:
    case Kind::Power:
    case Kind::Hypot:
        break;
    }
    return 0;
}

Integer joined(ops::Reduce::Kind kind, Integer all, Integer x)
{
    using Kind = ops::Reduce::Kind;
    switch (kind) {
    case Kind::Max:
        return std::max(all, x);
    case Kind::Min:
        return std::min(all, x);
    case Kind::Prod:
    case Kind::NanProd:
        return wrappedProduct(all, x);
    case Kind::SumSquare:
        return wrappedSum(all, wrappedProduct(x, x));
    default:
        return wrappedSum(all, x);
    }
}

/// What is left of `value` when it has been stored.
Integer lowBits(Integer value, tensor::DType type)
{
    std::array<std::byte, sizeof(Integer)> bytes{};
    tensor::convert(tensor::DType::I64, reinterpret_cast<const std::byte *>(&value), 1, type, bytes.data());
    return tensor::integers(type, bytes.data(), 1)[0];
}

} // namespace

bool hasIntegerForm(const ops::Operator &op)
{
    if (const auto *unary = op.getIf<ops::Unary>())
        return isExact(unary->kind);
    if (const auto *binary = op.getIf<ops::Binary>())
        return isExact(binary->kind);
    if (const auto *scalar = op.getIf<ops::ScalarBinary>())
        return isExact(scalar->kind);
    if (const auto *reduce = op.getIf<ops::Reduce>())
        return isExact(reduce->kind);
    return true;
}

std::int64_t storedInteger(double value, tensor::DType type)
{
    std::array<std::byte, sizeof(Integer)> bytes{};
    tensor::narrow(&value, 1, type, bytes.data());
    return tensor::integers(type, bytes.data(), 1)[0];
}

template <>
Result<void> compute(const ops::Unary &op, const Arrays<Integer> &arrays)
{
    using Kind = ops::UnaryKind;
    const DimSpan dims = arrays.inDims(0);
    const auto root = static_cast<Integer>(std::sqrt(static_cast<double>(dims.empty() ? 1 : dims.back())));
    const bool isUnsigned = arrays.operation.inputs[0].dtype == tensor::DType::U64;
    for (std::size_t i = 0; i < arrays.outCount(0); ++i) {
        const Integer x = arrays.in[0][i];
        const bool isSign = op.kind == Kind::Sign || op.kind == Kind::SignOrNaN;
        if (isUnsigned && (isSign || op.kind == Kind::Abs || op.kind == Kind::Relu)) {
            arrays.out[0][i] = isSign ? x != 0 : x;
            continue;
        }
        arrays.out[0][i] = op.kind == Kind::Negative ? wrappedDifference(0, x)
            : op.kind == Kind::BitNot                ? ~x
            : op.kind == Kind::Abs                   ? (x < 0 ? wrappedDifference(0, x) : x)
            : isSign                                 ? (x > 0) - (x < 0)
            : op.kind == Kind::Relu                  ? std::max<Integer>(x, 0)
            : op.kind == Kind::DivideBySqrtDim       ? wrappedQuotient(x, root)
                                                     : x;
    }
    return {};
}

template <>
Result<void> compute(const ops::Binary &op, const Arrays<Integer> &arrays)
{
    const DimSpan dims = arrays.outDims(0);
    if (arrays.outCount(0) == 0)
        return {};
    RowWalk walk(dims, {stretchedStrides(arrays.inDims(0), dims), stretchedStrides(arrays.inDims(1), dims)});
    Integer *out = arrays.out[0];
    const bool isUnsigned = arrays.operation.inputs[0].dtype == tensor::DType::U64;
    for (std::size_t row = 0; row < walk.rowCount(); ++row, walk.next()) {
        const Integer *a = arrays.in[0] + walk.offset(0);
        const Integer *b = arrays.in[1] + walk.offset(1);
        for (std::size_t i = 0; i < walk.rowLength(); ++i, a += walk.step(0), b += walk.step(1))
            *out++ = isUnsigned ? joinedUnsigned(op.kind, *a, *b).value_or(joined(op.kind, *a, *b))
                                : joined(op.kind, *a, *b);
    }
    return {};
}

template <>
Result<void> compute(const ops::ScalarBinary &op, const Arrays<Integer> &arrays)
{
    const Integer scalar = storedInteger(op.scalar, arrays.operation.inputs[0].dtype);
    for (std::size_t i = 0; i < arrays.outCount(0); ++i)
        arrays.out[0][i] = op.reversed ? joined(op.kind, scalar, arrays.in[0][i])
                                       : joined(op.kind, arrays.in[0][i], scalar);
    return {};
}

template <>
Result<void> compute(const ops::Reduce &op, const Arrays<Integer> &arrays)
{
    HALFTONE_TRY(const auto strides,
                 op.eachElement ? Result(denseStrides(arrays.inDims(0)))
                                : reducedStrides(arrays.inDims(0), op.axes, op.exclude));
    const std::size_t results = arrays.outCount(0);
    std::fill_n(arrays.out[0], results, startFor<Integer>(op.kind, arrays.operation.outputs[0].dtype));
    eachPlace(arrays.in[0], arrays.inDims(0), strides,
              [&](Integer x, std::size_t at) { arrays.out[0][at] = joined(op.kind, arrays.out[0][at], x); });
    if (op.kind != ops::Reduce::Kind::Mean || results == 0)
        return {};
    // The sum is stored in the type of the elements before it is divided, and so is the divisor.
    const tensor::DType type = arrays.operation.outputs[0].dtype;
    const Integer each = lowBits(static_cast<Integer>(arrays.inCount(0) / results), type);
    for (std::size_t i = 0; i < results; ++i)
        arrays.out[0][i] = wrappedQuotient(lowBits(arrays.out[0][i], type), each);
    return {};
}

template <>
Result<void> compute(const ops::CumSum &op, const Arrays<Integer> &arrays)
{
    const auto elements = static_cast<std::int64_t>(arrays.inCount(0));
    const DimSpan dims = op.axis ? arrays.inDims(0) : DimSpan(&elements, 1);
    const AxisView view(dims, op.axis ? fromFront(*op.axis, dims.size()) : 0);
    for (std::size_t line = 0; line < view.lines(); ++line) {
        Integer all = op.product ? 1 : 0;
        for (std::size_t i = 0; i < view.length; ++i) {
            const std::size_t at = view.begin(line) + (op.reverse ? view.length - 1 - i : i) * view.inner;
            const Integer before = all;
            all = op.product ? wrappedProduct(all, arrays.in[0][at]) : wrappedSum(all, arrays.in[0][at]);
            arrays.out[0][at] = op.exclusive ? before : all;
        }
    }
    return {};
}

} // namespace halftone::backends::reference
