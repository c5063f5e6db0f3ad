#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <string>

/// Small operators that calculate.
namespace halftone::backends::reference {

template <class Real>
Result<void> compute(const ops::Quadratic &op, const Arrays<Real> &arrays)
{
    // MXNet's form: an infinity stays one where b is 0; integers of any size are counted in single precision.
    const auto value = [&op]<class T>(T x) {
        return x * (static_cast<T>(op.a) * x + static_cast<T>(op.b)) + static_cast<T>(op.c);
    };
    const bool isInteger = !tensor::isFloat(arrays.operation.inputs[0].dtype);
    std::transform(arrays.in[0], arrays.in[0] + arrays.inCount(0), arrays.out[0], [&](Real x) {
        return isInteger ? static_cast<Real>(value(static_cast<float>(x))) : value(x);
    });
    return {};
}

template <class Real>
Result<void> compute(const ops::AllFinite &, const Arrays<Real> &arrays)
{
    bool isFinite = true;
    for (std::size_t i = 0; i < arrays.in.size(); ++i)
        isFinite = isFinite && std::all_of(arrays.in[i], arrays.in[i] + arrays.inCount(i), [](Real x) {
                       return std::isfinite(x);
                   });
    arrays.out[0][0] = isFinite ? Real(1) : Real(0);
    return {};
}

template <class Real>
Result<void> compute(const ops::CumSum &op, const Arrays<Real> &arrays)
{
    const std::int64_t all = static_cast<std::int64_t>(arrays.inCount(0));
    const DimSpan dims = op.axis ? arrays.inDims(0) : DimSpan(&all, 1);
    const AxisView view(dims, op.axis ? fromFront(*op.axis, dims.size()) : 0);
    const bool isCut
        = !tensor::isFloat(arrays.operation.outputs[0].dtype); // each element, before it is added
    for (std::size_t line = 0; line < view.lines(); ++line) {
        Real all = op.product ? Real(1) : Real(0);
        for (std::size_t i = 0; i < view.length; ++i) {
            const std::size_t at = view.begin(line) + (op.reverse ? view.length - 1 - i : i) * view.inner;
            const Real before = all;
            const Real x = isCut ? std::trunc(arrays.in[0][at]) : arrays.in[0][at];
            all = op.product ? all * x : all + x;
            arrays.out[0][at] = op.exclusive ? before : all;
        }
    }
    return {};
}

/// A value counts in the last interval whose lower bound it reaches; the last interval holds its upper bound, too.
template <class Real>
Result<void> compute(const ops::Histogram &op, const Arrays<Real> &arrays)
{
    const std::size_t bins = arrays.outCount(0);
    std::vector<Real> bounds(bins + 1);
    if (op.bins) {
        if (op.range.size() != 2 || !(op.range[0] < op.range[1]))
            return badInput("range", std::to_string(op.range.size()) + " values", "a lower and a higher one");
        for (std::size_t k = 0; k <= bins; ++k)
            bounds[k] = static_cast<Real>(op.range[0]
                                          + static_cast<double>(k) * (op.range[1] - op.range[0])
                                              / static_cast<double>(bins));
    } else {
        std::copy_n(arrays.in[1], bounds.size(), bounds.begin());
    }
    std::vector<Real> counts(bins, Real(0));
    for (std::size_t i = 0; i < arrays.inCount(0); ++i) {
        const Real x = arrays.in[0][i];
        if (!(x >= bounds.front() && x <= bounds.back()))
            continue;
        const auto above = std::ranges::upper_bound(bounds, x) - bounds.begin();
        counts[std::min(static_cast<std::size_t>(above - 1), bins - 1)] += 1;
    }
    if (arrays.out[0])
        std::ranges::copy(counts, arrays.out[0]);
    if (arrays.out.size() > 1 && arrays.out[1])
        std::ranges::copy(bounds, arrays.out[1]);
    return {};
}

template <class Real>
Result<void> compute(const ops::BatchNormRelu &op, const Arrays<Real> &arrays)
{
    HALFTONE_CHECK(compute(op.norm, arrays));
    std::for_each(arrays.out[0], arrays.out[0] + arrays.outCount(0),
                  [](Real &x) { x = x < 0 ? Real(0) : x; });
    if (arrays.out.size() > 3 && arrays.out[3])
        std::fill_n(arrays.out[3], arrays.outCount(3), Real(0));
    return {};
}

template <class Real>
Result<void> compute(const ops::ColumnKronecker &, const Arrays<Real> &arrays)
{
    const auto columns = static_cast<std::size_t>(arrays.outDims(0)[1]);
    std::vector<Real> factors(arrays.in.size());
    for (std::size_t i = 0; i < arrays.outCount(0); ++i) {
        std::size_t row = i / columns;
        for (std::size_t k = arrays.in.size(); k-- > 0;) {
            const auto rows = static_cast<std::size_t>(arrays.inDims(k)[0]);
            factors[k] = arrays.in[k][row % rows * columns + i % columns];
            row /= rows;
        }
        // From the first on: what becomes infinite on the way hangs on the order.
        Real product = 1;
        for (const Real factor : factors)
            product *= factor;
        arrays.out[0][i] = product;
    }
    return {};
}

HALFTONE_BOTH(Quadratic)
HALFTONE_BOTH(AllFinite)
HALFTONE_BOTH(CumSum)
HALFTONE_BOTH(Histogram)
HALFTONE_BOTH(BatchNormRelu)
HALFTONE_BOTH(ColumnKronecker)

} // namespace halftone::backends::reference
