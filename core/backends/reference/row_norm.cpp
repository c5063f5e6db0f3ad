#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/reduced_strides.h"

#include <cmath>

/// Normalisations by statistics of rows, batches and axes. Sums are kept in double: no order of adding then matters.
namespace halftone::backends::reference {
namespace {

struct Spread
{
    double mean = 0;
    double variance = 0; ///< or the mean square
};

/// Of `length` elements `step` apart.
template <class Real>
Spread spreadOf(const Real *row, std::size_t length, std::size_t step, bool centred)
{
    Spread found;
    for (std::size_t i = 0; centred && i < length; ++i)
        found.mean += static_cast<double>(row[i * step]);
    found.mean /= static_cast<double>(length);
    for (std::size_t i = 0; i < length; ++i) {
        const double distance = static_cast<double>(row[i * step]) - found.mean;
        found.variance += distance * distance;
    }
    found.variance /= static_cast<double>(length);
    return found;
}

/// The elements of input `i` as they stretch over one row, whose axes are the last ones of `dims`.
template <class Real>
std::vector<Real> stretchedOver(const Arrays<Real> &arrays, std::size_t i, DimSpan row)
{
    std::vector<Real> values;
    values.reserve(count(row));
    DimSpan dims = arrays.inDims(i);
    if (dims.size() > row.size())
        dims = dims.subspan(dims.size() - row.size());
    RowWalk walk(row, {stretchedStrides(dims, row)});
    for (std::size_t r = 0; r < walk.rowCount(); ++r, walk.next()) {
        std::int64_t at = walk.offset(0);
        for (std::size_t k = 0; k < walk.rowLength(); ++k, at += walk.step(0))
            values.push_back(arrays.in[i][at]);
    }
    return values;
}

template <class Real>
void put(const Arrays<Real> &arrays, std::size_t output, std::size_t at, double value)
{
    if (output < arrays.out.size() && arrays.out[output])
        arrays.out[output][at] = static_cast<Real>(value);
}

} // namespace

template <class Real>
Result<void> compute(const ops::LayerNormalization &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t axis = fromFront(op.axis, dims.size());
    const DimSpan row = op.oneAxis ? dims.subspan(axis, 1) : dims.subspan(axis);
    AxisView view(dims, axis);
    if (!op.oneAxis) {
        view.length *= view.inner;
        view.inner = 1;
    }
    if (arrays.outCount(0) == 0)
        return {};
    for (std::size_t i = 1; i < (op.hasBeta ? 3U : 2U); ++i)
        if (arrays.inDims(i).size() > row.size() && arrays.inCount(i) > view.length)
            return badInput("input " + std::to_string(i), arrays.operation.inputs[i].shape.toString(),
                            "a shape that stretches to the normalised axes");
    const std::vector<Real> gamma = stretchedOver(arrays, 1, row);
    const std::vector<Real> beta
        = op.hasBeta ? stretchedOver(arrays, 2, row) : std::vector<Real>(view.length, Real(0));
    arrays.workers.share(view.lines(), 8 * view.length, [&](std::size_t begin, std::size_t end) {
        for (std::size_t line = begin; line < end; ++line) {
            const Real *data = arrays.in[0] + view.begin(line);
            Real *out = arrays.out[0] + view.begin(line);
            const Spread found = spreadOf(data, view.length, view.inner, op.centred);
            const double deviation = std::sqrt(found.variance + op.epsilon);
            const double mean = found.mean;
            const auto inverse = static_cast<Real>(1 / deviation);
            for (std::size_t i = 0; i < view.length; ++i) {
                const std::size_t at = i * view.inner;
                out[at]
                    = static_cast<Real>(static_cast<double>(data[at]) - mean) * inverse * gamma[i] + beta[i];
            }
            put(arrays, 1, line, found.mean);
            put(arrays, 2, line, op.oneAxis ? deviation : 1 / deviation);
        }
    });
    return {};
}

template <class Real>
Result<void> compute(const ops::BatchNormTraining &op, const Arrays<Real> &arrays)
{
    const AxisView view(arrays.inDims(0), 1);
    const double each = static_cast<double>(view.outer * view.inner);
    for (std::size_t c = 0; c < view.length; ++c) {
        const auto eachElement = [&](const auto &use) {
            for (std::size_t o = 0; o < view.outer; ++o)
                for (std::size_t i = 0; i < view.inner; ++i)
                    use((o * view.length + c) * view.inner + i);
        };
        double mean = 0;
        double variance = 0;
        eachElement([&](std::size_t at) { mean += static_cast<double>(arrays.in[0][at]) / each; });
        eachElement([&](std::size_t at) {
            const double distance = static_cast<double>(arrays.in[0][at]) - mean;
            variance += distance * distance / each;
        });
        const auto scale = static_cast<Real>(1 / std::sqrt(variance + op.epsilon)) * arrays.in[1][c];
        eachElement([&](std::size_t at) {
            arrays.out[0][at]
                = static_cast<Real>(static_cast<double>(arrays.in[0][at]) - mean) * scale + arrays.in[2][c];
        });
        const auto moved = [&](Real old, double now) {
            return static_cast<double>(old) * op.momentum + now * (1 - op.momentum);
        };
        put(arrays, 1, c, moved(arrays.in[3][c], mean));
        put(arrays, 2, c, moved(arrays.in[4][c], variance));
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::MeanVarianceNormalization &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const auto strides, reducedStrides(arrays.inDims(0), op.axes, false));
    const DimSpan dims = arrays.inDims(0);
    std::size_t results = 1;
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
        results *= strides[axis] != 0 ? static_cast<std::size_t>(dims[axis]) : 1;
    std::vector<double> means(results, 0.0);
    std::vector<double> squares(results, 0.0);
    const double each
        = static_cast<double>(arrays.inCount(0)) / static_cast<double>(std::max<std::size_t>(results, 1));
    eachPlace(arrays.in[0], dims, strides,
              [&](Real x, std::size_t at) { means[at] += static_cast<double>(x) / each; });
    eachPlace(arrays.in[0], dims, strides, [&](Real x, std::size_t at) {
        const double distance = static_cast<double>(x) - means[at];
        squares[at] += distance * distance / each;
    });
    std::size_t i = 0;
    eachPlace(arrays.in[0], dims, strides, [&](Real x, std::size_t at) {
        arrays.out[0][i++]
            = static_cast<Real>((static_cast<double>(x) - means[at]) / (std::sqrt(squares[at]) + 1e-9));
    });
    return {};
}

template <class Real>
Result<void> compute(const ops::LpNormalization &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const std::size_t axis = op.toEnd ? static_cast<std::size_t>(op.axis) : fromFront(op.axis, dims.size());
    AxisView view(arrays.inCount(0));
    if (op.toEnd) {
        view.outer = extent(dims, 0, axis);
        view.length = extent(dims, axis, dims.size());
    } else {
        view = AxisView(dims, axis);
    }
    for (std::size_t line = 0; line < view.lines(); ++line) {
        const std::size_t begin = view.begin(line);
        double sum = op.epsilon.value_or(0);
        for (std::size_t i = 0; i < view.length; ++i) {
            const auto x = static_cast<double>(arrays.in[0][begin + i * view.inner]);
            sum += op.p == 1 ? std::abs(x) : x * x;
        }
        if (op.epsilon) // overflows as a sum in the type of the elements
            sum = static_cast<double>(static_cast<Real>(sum));
        const auto norm = static_cast<Real>(op.p == 1 ? sum : std::sqrt(sum));
        for (std::size_t i = 0; i < view.length; ++i)
            arrays.out[0][begin + i * view.inner]
                = norm == 0 && !op.epsilon ? Real(0) : arrays.in[0][begin + i * view.inner] / norm;
        put(arrays, 1, line, static_cast<double>(norm));
    }
    return {};
}

HALFTONE_BOTH(LayerNormalization)
HALFTONE_BOTH(BatchNormTraining)
HALFTONE_BOTH(MeanVarianceNormalization)
HALFTONE_BOTH(LpNormalization)

} // namespace halftone::backends::reference
