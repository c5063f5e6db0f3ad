#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/typed.h"

#include <algorithm>
#include <cmath>

/// Functions of elements with parameters, bounds, and many inputs in one.
namespace halftone::backends::reference {

template <class Real>
Result<void> compute(const ops::Curve &op, const Arrays<Real> &arrays)
{
    using Kind = ops::Curve::Kind;
    const auto alpha = static_cast<Real>(op.alpha);
    const auto beta = static_cast<Real>(op.beta);
    const auto each = [&](const auto &f) {
        arrays.workers.share(arrays.outCount(0), 20, [&](std::size_t begin, std::size_t end) {
            std::transform(arrays.in[0] + begin, arrays.in[0] + end, arrays.out[0] + begin, f);
        });
    };
    switch (op.kind) {
    case Kind::Celu:
        each([=](Real x) { // a NaN stays
            return x > 0 ? x : std::isnan(x) ? x : std::min(Real(0), alpha * std::expm1(x / alpha));
        });
        break;
    case Kind::ThresholdedRelu:
        each([=](Real x) { return x > alpha ? x : Real(0); });
        break;
    case Kind::Shrink:
        each([=](Real x) { return x < -alpha ? x + beta : x > alpha ? x - beta : Real(0); });
        break;
    case Kind::Swish:
        each([=](Real x) { return x / (Real(1) + std::exp(-alpha * x)); });
        break;
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::IsInf &op, const Arrays<Real> &arrays)
{
    for (std::size_t i = 0; i < arrays.outCount(0); ++i) {
        const Real x = arrays.in[0][i];
        arrays.out[0][i] = std::isinf(x) && (x < 0 ? op.negative : op.positive) ? Real(1) : Real(0);
    }
    return {};
}

Result<void> move(const ops::ClipBetween &op, const RawArrays &arrays)
{
    const tensor::DType type = arrays.operation.inputs[0].dtype;
    const std::size_t highInput = op.hasLow ? 2 : 1;
    if ((op.hasLow && arrays.inCount(1) != 1) || (op.hasHigh && arrays.inCount(highInput) != 1))
        return badInput("input 1", arrays.operation.inputs[1].shape.toString(), "one number");
    withNumbers(type, [&](auto number) {
        using Number = decltype(number);
        std::vector<Number> values = loadedInput<Number>(arrays, 0);
        if (op.hasLow) {
            const Number low = loadedInput<Number>(arrays, 1)[0];
            for (Number &x : values)
                x = x < low ? low : x;
        }
        if (op.hasHigh) {
            const Number high = loadedInput<Number>(arrays, highInput)[0];
            for (Number &x : values)
                x = x > high ? high : x;
        }
        store(values, type, arrays.out[0]);
    });
    return {};
}

namespace {

/// What two inputs are together; NaN wins over numbers.
template <class Number>
Number together(ops::Join::Kind kind, Number a, Number b)
{
    using Kind = ops::Join::Kind;
    if (kind == Kind::Sum || kind == Kind::Mean) {
        if constexpr (std::is_integral_v<Number>) // wraps around
            return static_cast<Number>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
        else
            return a + b;
    }
    if constexpr (std::is_floating_point_v<Number>)
        if (std::isnan(a) || std::isnan(b))
            return std::isnan(a) ? a : b;
    return (kind == Kind::Maximum) == (a < b) ? b : a;
}

} // namespace

Result<void> move(const ops::Join &op, const RawArrays &arrays)
{
    const DimSpan dims = arrays.outDims(0);
    const tensor::DType type = arrays.operation.outputs[0].dtype;
    if (arrays.outCount(0) == 0)
        return {};
    withNumbers(type, [&](auto number) {
        using Number = decltype(number);
        std::vector<Number> all(arrays.outCount(0));
        for (std::size_t i = 0; i < arrays.in.size(); ++i) {
            const std::vector<Number> input = loadedInput<Number>(arrays, i);
            RowWalk walk(dims, {stretchedStrides(arrays.inDims(i), dims)});
            auto to = all.begin();
            for (std::size_t row = 0; row < walk.rowCount(); ++row, walk.next()) {
                std::int64_t at = walk.offset(0);
                for (std::size_t k = 0; k < walk.rowLength(); ++k, ++to, at += walk.step(0)) {
                    const Number x = input[static_cast<std::size_t>(at)];
                    *to = i == 0 ? x : together(op.kind, *to, x);
                }
            }
        }
        if (op.kind == ops::Join::Kind::Mean)
            for (Number &x : all)
                x /= static_cast<Number>(arrays.in.size());
        store(all, type, arrays.out[0]);
    });
    return {};
}

HALFTONE_BOTH(Curve)
HALFTONE_BOTH(IsInf)

} // namespace halftone::backends::reference
