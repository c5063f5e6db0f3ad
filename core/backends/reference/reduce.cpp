#include "core/backends/reference/kernels.h"
#include "core/backends/reference/reduced_strides.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::backends::reference {
namespace {

/// Where the numbers of a type begin and end: from `end` on they are infinite, below `least` they have steps of `step`. Integers
/// and float64 have no such places here.
struct Range
{
    double end = std::numeric_limits<double>::infinity();
    double least = 0;
    double step = 1;
};

Range endsOf(tensor::DType type)
{
    switch (type) {
    case tensor::DType::F16:
        return {65520, 0x1p-14, 0x1p-24};
    case tensor::DType::F32:
        return {0x1p128, 0x1p-126, 0x1p-149};
    case tensor::DType::BF16:
        return {0x1p128, 0x1p-126, 0x1p-133};
    default:
        return {};
    }
}

/// In double, so that the order of adding does not show; but a product that reaches an end of its type is infinite or zero at
/// once, as zeros, infinities or larger numbers may follow.
double joined(ops::Reduce::Kind kind, double sum, double x, const Range &range)
{
    using Kind = ops::Reduce::Kind;
    const auto product = [&range](double value) {
        if (std::abs(value) >= range.end)
            return value * std::numeric_limits<double>::infinity();
        return std::abs(value) < range.least ? std::nearbyint(value / range.step) * range.step : value;
    };
    switch (kind) {
    case Kind::Sum:
    case Kind::Mean:
        return sum + x;
    case Kind::NanSum:
        return std::isnan(x) ? sum : sum + x;
    case Kind::Max:
        return x > sum || std::isnan(x) ? x : sum;
    case Kind::Min:
        return x < sum || std::isnan(x) ? x : sum;
    case Kind::Prod:
        return product(sum * x);
    case Kind::NanProd:
        return std::isnan(x) ? sum : product(sum * x);
    case Kind::L1:
        return sum + std::abs(x);
    case Kind::L2:
    case Kind::SumSquare:
        return sum + x * x;
    case Kind::LogSum:
    case Kind::LogSumExp: // of exponents, below
        return sum + x;
    }
    return sum;
}

/// The largest is taken out of the exponents, which then do not overflow.
template <class Real>
Result<void> logSumExp(const Arrays<Real> &arrays, const std::vector<std::int64_t> &strides)
{
    constexpr double kNothing = -std::numeric_limits<double>::infinity();
    std::vector<double> largest(arrays.outCount(0), kNothing);
    std::vector<double> sums(largest.size(), 0.0);
    eachPlace(arrays.in[0], arrays.inDims(0), strides,
              [&](Real x, std::size_t at) { largest[at] = std::max(largest[at], static_cast<double>(x)); });
    for (double &x : largest)
        x = std::isinf(x) ? 0 : x;
    eachPlace(arrays.in[0], arrays.inDims(0), strides,
              [&](Real x, std::size_t at) { sums[at] += std::exp(static_cast<double>(x) - largest[at]); });
    for (std::size_t i = 0; i < sums.size(); ++i)
        arrays.out[0][i] = static_cast<Real>(std::log(sums[i]) + largest[i]);
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::Reduce &op, const Arrays<Real> &arrays)
{
    using Kind = ops::Reduce::Kind;
    HALFTONE_TRY(const auto strides,
                 op.eachElement ? Result(denseStrides(arrays.inDims(0)))
                                : reducedStrides(arrays.inDims(0), op.axes, op.exclude));
    if (op.kind == Kind::LogSumExp)
        return logSumExp(arrays, strides);
    std::vector<double> sums(arrays.outCount(0),
                             startFor<double>(op.kind, arrays.operation.outputs[0].dtype));
    const Range range = endsOf(arrays.operation.outputs[0].dtype);
    eachPlace(arrays.in[0], arrays.inDims(0), strides, [&](Real x, std::size_t at) {
        sums[at] = joined(op.kind, sums[at], static_cast<double>(x), range);
    });
    const double each
        = static_cast<double>(arrays.inCount(0)) / static_cast<double>(std::max<std::size_t>(sums.size(), 1));
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const double value = op.kind == Kind::Mean ? sums[i] / each
            : op.kind == Kind::L2                  ? std::sqrt(sums[i])
            : op.kind == Kind::LogSum              ? std::log(sums[i])
                                                   : sums[i];
        arrays.out[0][i] = static_cast<Real>(value);
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::Moments &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const auto strides, reducedStrides(arrays.inDims(0), op.axes, false));
    std::vector<double> means(arrays.outCount(0), 0.0);
    std::vector<double> squares(means.size(), 0.0);
    const double each = static_cast<double>(arrays.inCount(0))
        / static_cast<double>(std::max<std::size_t>(means.size(), 1));
    eachPlace(arrays.in[0], arrays.inDims(0), strides,
              [&](Real x, std::size_t at) { means[at] += static_cast<double>(x); });
    for (double &mean : means)
        mean /= each;
    eachPlace(arrays.in[0], arrays.inDims(0), strides, [&](Real x, std::size_t at) {
        const double distance = static_cast<double>(x) - means[at];
        squares[at] += distance * distance;
    });
    for (std::size_t i = 0; i < means.size(); ++i) {
        if (arrays.out[0])
            arrays.out[0][i] = static_cast<Real>(means[i]);
        if (arrays.out.size() > 1 && arrays.out[1])
            arrays.out[1][i] = static_cast<Real>(squares[i] / each);
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::ArgReduce &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const bool whole = !op.perRow && (!op.axis || dims.size() < 2);
    const AxisView view = whole ? AxisView(arrays.inCount(0))
                                : AxisView(dims, op.perRow ? 1 : fromFront(*op.axis, dims.size()));
    if (view.length == 0)
        return badInput("input 0", "an empty axis", "something to choose from");
    for (std::size_t line = 0; line < view.lines(); ++line) {
        const Real *data = arrays.in[0] + view.begin(line);
        std::size_t best = 0;
        for (std::size_t i = 1; i < view.length; ++i) {
            const Real x = data[i * view.inner];
            const Real held = data[best * view.inner];
            const bool isChosenNaN = std::isnan(x) && (op.last || !std::isnan(held));
            const bool isBetter = op.last ? !(op.smallest ? x > held : x < held)
                : op.smallest             ? x < held
                                          : x > held;
            if (isChosenNaN || (isBetter && !std::isnan(held)))
                best = i;
        }
        arrays.out[0][line] = static_cast<Real>(best);
    }
    return {};
}

HALFTONE_BOTH(Reduce)
HALFTONE_BOTH(Moments)
HALFTONE_BOTH(ArgReduce)
template Result<void> compute(const ops::ArgReduce &, const Arrays<std::int64_t> &);

} // namespace halftone::backends::reference
