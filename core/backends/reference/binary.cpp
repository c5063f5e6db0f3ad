#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/integers.h"
#include "core/backends/reference/kernels.h"
#include "core/tensor/elements.h"

#include <cmath>

namespace halftone::backends::reference {
namespace {

/// Python's remainder, which has the divisor's sign; 0 for a divisor of 0, as MXNet has it.
template <class Real>
Real remainderOf(Real a, Real b)
{
    if (b == 0)
        return 0;
    const Real rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// The scalar as MXNet holds it: in the type of the tensor.
double storedScalar(double scalar, tensor::DType type, bool isInteger)
{
    if (isInteger)
        return static_cast<double>(storedInteger(scalar, type));
    return type == tensor::DType::F16 || tensor::isForAnalysis(type) ? tensor::heldIn(type, scalar) : scalar;
}

template <class Real>
Real truth(bool value)
{
    return value ? Real(1) : Real(0);
}

/// Calls `use` with the function of two numbers, so that each gets a loop of its own.
template <class Real, class Use>
void withFunction(ops::BinaryKind kind, bool ofIntegers, const Use &use)
{
    using Kind = ops::BinaryKind;
    switch (kind) {
    case Kind::Add:
        return use([](Real a, Real b) { return a + b; });
    case Kind::Sub:
        return use([](Real a, Real b) { return a - b; });
    case Kind::Mul:
        return use([](Real a, Real b) { return a * b; });
    case Kind::Div:
        return use([](Real a, Real b) { return a / b; });
    case Kind::Mod:
        return use([](Real a, Real b) { return remainderOf(a, b); });
    case Kind::Power:
        if (ofIntegers) // in single precision, as MXNet has it
            return use([](Real a, Real b) {
                return static_cast<Real>(std::pow(static_cast<float>(a), static_cast<float>(b)));
            });
        return use([](Real a, Real b) { return std::pow(a, b); });
    case Kind::Fmod:
        return use([](Real a, Real b) { return std::fmod(a, b); });
    case Kind::Pow:
        return use([](Real a, Real b) { return std::pow(a, b); });
    case Kind::BitAnd: // of integers, which are computed as such
    case Kind::BitOr:
    case Kind::BitXor:
    case Kind::ShiftLeft:
    case Kind::ShiftRight:
        return use([](Real, Real) { return Real(0); });
    case Kind::Maximum: // a NaN on the left stays
        return use([](Real a, Real b) { return a > b || std::isnan(a) ? a : b; });
    case Kind::Minimum:
        return use([](Real a, Real b) { return a < b || std::isnan(a) ? a : b; });
    case Kind::Hypot:
        if (ofIntegers)
            return use([](Real a, Real b) {
                return static_cast<Real>(std::hypot(static_cast<float>(a), static_cast<float>(b)));
            });
        return use([](Real a, Real b) { return std::hypot(a, b); });
    case Kind::Equal:
        return use([](Real a, Real b) { return truth<Real>(a == b); });
    case Kind::NotEqual:
        return use([](Real a, Real b) { return truth<Real>(a != b); });
    case Kind::Greater:
        return use([](Real a, Real b) { return truth<Real>(a > b); });
    case Kind::GreaterEqual:
        return use([](Real a, Real b) { return truth<Real>(a >= b); });
    case Kind::Lesser:
        return use([](Real a, Real b) { return truth<Real>(a < b); });
    case Kind::LesserEqual:
        return use([](Real a, Real b) { return truth<Real>(a <= b); });
    case Kind::LogicalAnd:
        return use([](Real a, Real b) { return truth<Real>(a != 0 && b != 0); });
    case Kind::LogicalOr:
        return use([](Real a, Real b) { return truth<Real>(a != 0 || b != 0); });
    case Kind::LogicalXor:
        return use([](Real a, Real b) { return truth<Real>((a != 0) != (b != 0)); });
    }
}

} // namespace

template <class Real>
Result<void> compute(const ops::Binary &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.outDims(0);
    if (arrays.outCount(0) == 0)
        return {};
    withFunction<Real>(op.kind, !tensor::isFloat(arrays.operation.outputs[0].dtype), [&](const auto &f) {
        RowWalk walk(dims,
                     {stretchedStrides(arrays.inDims(0), dims), stretchedStrides(arrays.inDims(1), dims)});
        const std::size_t length = walk.rowLength();
        const std::int64_t stepA = walk.step(0);
        const std::int64_t stepB = walk.step(1);
        Real *out = arrays.out[0];
        for (std::size_t row = 0; row < walk.rowCount(); ++row, walk.next(), out += length) {
            const Real *a = arrays.in[0] + walk.offset(0);
            const Real *b = arrays.in[1] + walk.offset(1);
            if (stepA == 1 && stepB == 1) {
                for (std::size_t i = 0; i < length; ++i)
                    out[i] = f(a[i], b[i]);
                continue;
            }
            for (std::size_t i = 0; i < length; ++i, a += stepA, b += stepB)
                out[i] = f(*a, *b);
        }
    });
    return {};
}

template <class Real>
Result<void> compute(const ops::ScalarBinary &op, const Arrays<Real> &arrays)
{
    const bool isInteger = !tensor::isFloat(arrays.operation.outputs[0].dtype);
    const auto scalar
        = static_cast<Real>(storedScalar(op.scalar, arrays.operation.inputs[0].dtype, isInteger));
    withFunction<Real>(op.kind, isInteger, [&](const auto &f) {
        for (std::size_t i = 0; i < arrays.outCount(0); ++i)
            arrays.out[0][i] = op.reversed ? f(scalar, arrays.in[0][i]) : f(arrays.in[0][i], scalar);
    });
    return {};
}

HALFTONE_BOTH(Binary)
HALFTONE_BOTH(ScalarBinary)

} // namespace halftone::backends::reference
