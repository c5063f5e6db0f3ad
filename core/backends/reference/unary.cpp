#include "core/backends/reference/unary.h"

#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <limits>

namespace halftone::backends::reference {

double inverseErf(double y)
{
    if (!(std::abs(y) < 1))
        return std::abs(y) == 1 ? std::copysign(std::numeric_limits<double>::infinity(), y)
                                : std::numeric_limits<double>::quiet_NaN();
    // Winitzki's closed form to begin with (three digits), then Newton's steps, which double the digits.
    constexpr double kA = 0.147;
    constexpr double kHalfSqrtPi = 0.88622692545275801364908374167057;
    const double logarithm = std::log1p(-y * y);
    const double middle = 2 / (3.14159265358979323846 * kA) + logarithm / 2;
    double x = std::copysign(std::sqrt(std::sqrt(middle * middle - logarithm / kA) - middle), y);
    for (int step = 0; step < 4; ++step)
        x -= (std::erf(x) - y) * kHalfSqrtPi * std::exp(x * x);
    return x;
}

namespace {

template <class Real, class F>
Result<void> eachElement(const Arrays<Real> &arrays, std::size_t cost, const F &f)
{
    arrays.workers.share(arrays.outCount(0), cost, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            arrays.out[0][i] = f(arrays.in[0][i]);
    });
    return {};
}

constexpr std::size_t kCheap = 1;
constexpr std::size_t kTranscendental = 20;

template <class Real>
Result<void> unary(ops::UnaryKind kind, const Arrays<Real> &arrays)
{
    using Kind = ops::UnaryKind;
    switch (kind) { // those that matter get loops of their own, which vectorise
    case Kind::Relu:
        return eachElement(arrays, kCheap, [](Real x) { return apply(Kind::Relu, x); });
    case Kind::Identity:
        return eachElement(arrays, kCheap, [](Real x) { return x; });
    default:
        return eachElement(arrays, kTranscendental, [kind](Real x) { return apply(kind, x); });
    }
}

} // namespace

template <class Real>
Result<void> compute(const ops::Unary &op, const Arrays<Real> &arrays)
{
    if (op.kind == ops::UnaryKind::Sigmoid && !tensor::isFloat(arrays.operation.outputs[0].dtype))
        return eachElement(arrays, kTranscendental, [](Real x) { // where it becomes 1 hangs on the precision
            return static_cast<Real>(apply(ops::UnaryKind::Sigmoid, static_cast<double>(x)));
        });
    if (op.kind != ops::UnaryKind::DivideBySqrtDim)
        return unary(op.kind, arrays);
    const DimSpan dims = arrays.inDims(0);
    const Real root = std::sqrt(static_cast<Real>(dims.empty() ? 1 : dims.back()));
    return eachElement(arrays, kCheap, [root](Real x) { return x / root; });
}

template <class Real>
Result<void> compute(const ops::Activation &op, const Arrays<Real> &arrays)
{
    // MXNet leaves float32 of up to five axes to oneDNN, for which a NaN is not positive.
    const kernels::TensorDesc &data = arrays.operation.inputs[0];
    const bool byOneDnn
        = (data.dtype == tensor::DType::F32 || data.dtype == tensor::DType::BF16) && data.shape.rank() <= 5;
    if (op.kind == ops::UnaryKind::Relu && byOneDnn)
        return eachElement(arrays, kCheap, [](Real x) { return x > 0 ? x : Real(0); });
    return unary(op.kind, arrays);
}

namespace {

/// PRelu with slopes that stretch over the data.
template <class Real>
Result<void> stretchedSlopes(const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.outDims(0);
    if (arrays.outCount(0) == 0)
        return {};
    RowWalk walk(dims, {stretchedStrides(arrays.inDims(1), dims)});
    std::size_t at = 0;
    for (std::size_t row = 0; row < walk.rowCount(); ++row, walk.next()) {
        const Real *slope = arrays.in[1] + walk.offset(0);
        for (std::size_t i = 0; i < walk.rowLength(); ++i, ++at, slope += walk.step(0)) {
            const Real x = arrays.in[0][at];
            arrays.out[0][at] = x >= 0 ? x : x * *slope;
        }
    }
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::LeakyRelu &op, const Arrays<Real> &arrays)
{
    using Kind = ops::LeakyRelu::Kind;
    constexpr Real kRootHalf = static_cast<Real>(0.70710678118654752440084436210485);
    const auto slope = static_cast<Real>(op.slope);
    switch (op.kind) {
    case Kind::Leaky:
        return eachElement(arrays, kCheap, [slope](Real x) { return x > 0 ? x : slope * x; });
    case Kind::RandomRelu: { // outside training: the middle of the range
        const auto middle
            = static_cast<Real>((static_cast<float>(op.lowerBound) + static_cast<float>(op.upperBound)) / 2);
        return eachElement(arrays, kCheap, [middle](Real x) { return x > 0 ? x : middle * x; });
    }
    case Kind::Elu:
        return eachElement(arrays, kTranscendental,
                           [slope](Real x) { return x > 0 ? x : slope * std::expm1(x); });
    case Kind::Selu:
        return eachElement(arrays, kTranscendental, [slope, scale = static_cast<Real>(op.scale)](Real x) {
            return scale * (x > 0 ? x : slope * std::expm1(x));
        });
    case Kind::Gelu:
        return eachElement(arrays, kTranscendental,
                           [](Real x) { return x / 2 * (Real(1) + std::erf(x * kRootHalf)); });
    case Kind::PRelu:
        break;
    }
    if (op.stretches)
        return stretchedSlopes(arrays);
    const DimSpan dims = arrays.inDims(0);
    const std::size_t slopes = arrays.inCount(1);
    const bool perChannel = slopes > 1 && dims.size() > 1;
    const std::size_t channels = perChannel ? static_cast<std::size_t>(dims[1]) : 1;
    const std::size_t inner = perChannel ? extent(dims, 2, dims.size()) : 1;
    for (std::size_t i = 0; i < arrays.outCount(0); ++i) {
        const Real x = arrays.in[0][i];
        arrays.out[0][i] = x > 0 ? x : x * arrays.in[1][perChannel ? i / inner % channels : i % slopes];
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::Clip &op, const Arrays<Real> &arrays)
{
    const auto low = static_cast<Real>(op.low);
    const auto high = static_cast<Real>(op.high);
    return eachElement(arrays, kCheap, [low, high](Real x) { return x > high ? high : x < low ? low : x; });
}

template <class Real>
Result<void> compute(const ops::HardSigmoid &op, const Arrays<Real> &arrays)
{
    const auto alpha = static_cast<Real>(op.alpha);
    const auto beta = static_cast<Real>(op.beta);
    return eachElement(arrays, kCheap,
                       [=](Real x) { return std::clamp(alpha * x + beta, Real(0), Real(1)); }); // a NaN stays
}

template <class Real>
Result<void> compute(const ops::SmoothL1 &op, const Arrays<Real> &arrays)
{
    const double given = op.sigma.value_or(1);
    const bool isInteger
        = !tensor::isFloat(arrays.operation.inputs[0].dtype); // which the attribute becomes, too
    const double sigma = isInteger ? std::trunc(given) : given;
    const auto loss = []<class T>(T x, T square) {
        const T size = std::abs(x);
        return size > T(1) / square ? size - T(0.5) / square : T(0.5) * x * x * square;
    };
    if (isInteger) // MXNet counts integers of any size in single precision
        return eachElement(arrays, kCheap, [&loss, square = static_cast<float>(sigma * sigma)](Real x) {
            return static_cast<Real>(loss(static_cast<float>(x), square));
        });
    return eachElement(arrays, kCheap, [&loss, square = static_cast<Real>(sigma * sigma)](Real x) {
        return loss(x, square);
    });
}

template <class Real>
Result<void> compute(const ops::RegressionOutput &op, const Arrays<Real> &arrays)
{
    const bool logistic = op.kind == ops::RegressionOutput::Kind::Logistic;
    return unary(logistic ? ops::UnaryKind::Sigmoid : ops::UnaryKind::Identity, arrays);
}

HALFTONE_BOTH(Unary)
HALFTONE_BOTH(Activation)
HALFTONE_BOTH(LeakyRelu)
HALFTONE_BOTH(Clip)
HALFTONE_BOTH(HardSigmoid)
HALFTONE_BOTH(SmoothL1)
HALFTONE_BOTH(RegressionOutput)

} // namespace halftone::backends::reference
