#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace halftone::backends::reference {
namespace {

AxisView lineView(std::optional<std::int64_t> axis, DimSpan dims)
{
    return axis ? AxisView(dims, fromFront(*axis, dims.size())) : AxisView(count(dims));
}

template <class Real>
bool isNaN([[maybe_unused]] Real x)
{
    if constexpr (std::is_floating_point_v<Real>)
        return std::isnan(x);
    return false;
}

/// Calls `use(line, order)` with the positions of each line's elements, best first; only the first `wanted` are in
/// order. The first of equal elements comes first, NaN behind all numbers.
template <class Real, class Use>
void eachOrdered(const Real *data, const AxisView &view, std::size_t wanted, bool ascending, const Use &use)
{
    std::vector<std::size_t> order(view.length);
    for (std::size_t line = 0; line < view.lines(); ++line) {
        const Real *from = data + view.begin(line);
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto before = [&](std::size_t a, std::size_t b) {
            const Real x = from[a * view.inner];
            const Real y = from[b * view.inner];
            if (x == y || isNaN(x) || isNaN(y))
                return isNaN(x) == isNaN(y) ? a < b : isNaN(y);
            return ascending ? x < y : x > y;
        };
        std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
                          before);
        use(line, order);
    }
}

template <class Real>
void put(Real *out, std::size_t at, Real value)
{
    if (out)
        out[at] = value;
}

template <class Real>
Real *output(const Arrays<Real> &arrays, std::size_t i)
{
    return i < arrays.out.size() ? arrays.out[i] : nullptr;
}

/// Values and positions of the `wanted` best of each line.
template <class Real>
void best(const Arrays<Real> &arrays, const AxisView &view, std::size_t wanted, bool ascending, Real *values,
          Real *positions)
{
    eachOrdered(arrays.in[0], view, wanted, ascending, [&](std::size_t line, const auto &order) {
        AxisView shorter = view;
        shorter.length = wanted;
        for (std::size_t i = 0; i < wanted; ++i) {
            const std::size_t to = shorter.begin(line) + i * view.inner;
            put(values, to, arrays.in[0][view.begin(line) + order[i] * view.inner]);
            put(positions, to, static_cast<Real>(order[i]));
        }
    });
}

} // namespace

template <class Real>
Result<void> compute(const ops::TopK &op, const Arrays<Real> &arrays)
{
    using Returns = ops::TopK::Returns;
    const AxisView view = lineView(op.axis, arrays.inDims(0));
    const std::size_t wanted = op.k < 1 ? view.length : std::min(static_cast<std::size_t>(op.k), view.length);
    if (op.returns == Returns::Mask) {
        std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
        eachOrdered(arrays.in[0], view, wanted, op.ascending, [&](std::size_t line, const auto &order) {
            for (std::size_t i = 0; i < wanted; ++i)
                arrays.out[0][view.begin(line) + order[i] * view.inner] = 1;
        });
        return {};
    }
    // The second output is there, hidden, also when only the values are asked for.
    const bool indicesFirst = op.returns == Returns::Indices;
    best(arrays, view, wanted, op.ascending, indicesFirst ? nullptr : arrays.out[0],
         indicesFirst ? arrays.out[0] : output(arrays, 1));
    return {};
}

template <class Real>
Result<void> compute(const ops::Sort &op, const Arrays<Real> &arrays)
{
    const AxisView view = lineView(op.axis, arrays.inDims(0));
    best(arrays, view, view.length, op.ascending, arrays.out[0], output(arrays, 1));
    return {};
}

template <class Real>
Result<void> compute(const ops::ArgSort &op, const Arrays<Real> &arrays)
{
    const AxisView view = lineView(op.axis, arrays.inDims(0));
    best<Real>(arrays, view, view.length, op.ascending, nullptr, arrays.out[0]);
    return {};
}

HALFTONE_BOTH(TopK)
template Result<void> compute(const ops::TopK &, const Arrays<std::int64_t> &);
HALFTONE_BOTH(Sort)
template Result<void> compute(const ops::Sort &, const Arrays<std::int64_t> &);
HALFTONE_BOTH(ArgSort)
template Result<void> compute(const ops::ArgSort &, const Arrays<std::int64_t> &);

} // namespace halftone::backends::reference
