#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace halftone::backends::reference {
namespace {

struct SoftmaxForm
{
    bool logarithm = false;
    bool negated = false;
    double temperature = 1;
    /// What is no number counts as infinite, as in the kernels of oneDNN to which MXNet leaves float32 along the last axis: it
    /// becomes NaN itself and takes everything from the others. Else all of the line is NaN.
    bool nanIsInfinite = false;
};

/// The largest, NaN left out.
template <class Real>
Real largestOf(const Real *data, std::size_t length, std::size_t step, Real sign)
{
    Real largest = -std::numeric_limits<Real>::infinity();
    for (std::size_t i = 0; i < length; ++i)
        largest = std::max(largest, data[i * step] * sign);
    return largest;
}

/// Of `length` elements `step` apart.
template <class Real>
void softmaxLine(const Real *data, Real *out, std::size_t length, std::size_t step, const SoftmaxForm &form)
{
    const Real sign = form.negated ? Real(-1) : Real(1);
    const auto temperature = static_cast<Real>(form.temperature);
    const Real largest = largestOf(data, length, step, sign);
    // The largest is taken off first: what the temperature magnifies beyond the type's range is then a very small share.
    const auto exponentOf = [&](Real x) { return (x * sign - largest) / temperature; };
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) {
        const Real exponent = exponentOf(data[i * step]);
        const Real power = form.nanIsInfinite && std::isnan(exponent) ? std::numeric_limits<Real>::infinity()
                                                                      : std::exp(exponent);
        sum += static_cast<double>(power);
        if (!form.logarithm)
            out[i * step] = power;
    }
    const auto logarithm = static_cast<Real>(std::log(sum));
    for (std::size_t i = 0; i < length; ++i)
        out[i * step] = form.logarithm ? exponentOf(data[i * step]) - logarithm
                                       : static_cast<Real>(static_cast<double>(out[i * step]) / sum);
}

template <class Real>
Result<void> softmax(const Arrays<Real> &arrays, const AxisView &view, const SoftmaxForm &form)
{
    arrays.workers.share(view.lines(), 30 * view.length, [&](std::size_t begin, std::size_t end) {
        for (std::size_t line = begin; line < end && view.length > 0; ++line)
            softmaxLine(arrays.in[0] + view.begin(line), arrays.out[0] + view.begin(line), view.length,
                        view.inner, form);
    });
    return {};
}

/// (first axis, everything else).
AxisView rows(DimSpan dims)
{
    AxisView view(dims, 0);
    view.outer = view.length;
    view.length = view.inner;
    view.inner = 1;
    return view;
}

template <class Real>
Result<void> hardmax(const Arrays<Real> &arrays, const AxisView &view)
{
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    for (std::size_t line = 0; line < view.lines() && view.length > 0; ++line) {
        const Real *data = arrays.in[0] + view.begin(line);
        std::size_t best = 0; // NaN counts as the largest, as for the place of a largest value
        for (std::size_t i = 1; i < view.length && !std::isnan(data[best * view.inner]); ++i) {
            const Real x = data[i * view.inner];
            best = x > data[best * view.inner] || std::isnan(x) ? i : best;
        }
        arrays.out[0][view.begin(line) + best * view.inner] = 1;
    }
    return {};
}

} // namespace

template <class Real>
Result<void> compute(const ops::Softmax &op, const Arrays<Real> &arrays)
{
    using Kind = ops::Softmax::Kind;
    if (arrays.inDims(0).empty()) { // an axis of one element
        arrays.out[0][0] = op.kind == Kind::LogSoftmax ? Real(0) : Real(1);
        return {};
    }
    const std::size_t axis = fromFront(op.axis, arrays.inDims(0).size());
    AxisView view(arrays.inDims(0), axis);
    if (op.flattened) {
        view.length *= view.inner;
        view.inner = 1;
    }
    if (op.kind == Kind::Hardmax)
        return hardmax(arrays, view);
    SoftmaxForm form{op.kind == Kind::LogSoftmax, op.kind == Kind::Softmin, op.temperature.value_or(1)};
    form.nanIsInfinite = !op.spreadsNaN && op.kind != Kind::Softmin && !op.temperature && !op.useLength
        && axis + 1 == arrays.inDims(0).size() && arrays.operation.inputs[0].dtype == tensor::DType::F32
        && arrays.operation.outputs[0].dtype == tensor::DType::F32;
    if (!op.useLength)
        return softmax(arrays, view, form);
    for (std::size_t line = 0; line < view.lines(); ++line) {
        const Real given = std::max(arrays.in[1][line], Real(0));
        const std::size_t length
            = given < static_cast<Real>(view.length) ? static_cast<std::size_t>(given) : view.length;
        Real *out = arrays.out[0] + view.begin(line);
        if (length > 0)
            softmaxLine(arrays.in[0] + view.begin(line), out, length, view.inner, form);
        for (std::size_t i = length; i < view.length; ++i)
            out[i * view.inner] = 0;
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::SoftmaxActivation &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    return softmax(arrays, AxisView(dims, op.channel && dims.size() > 1 ? 1 : dims.size() - 1), {});
}

template <class Real>
Result<void> compute(const ops::SoftmaxOutput &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    if (op.multiOutput && dims.size() > 1)
        return softmax(arrays, AxisView(dims, 1), {});
    return softmax(arrays, op.preserveShape ? AxisView(dims, dims.size() - 1) : rows(dims), {});
}

template <class Real>
Result<void> compute(const ops::SoftmaxCrossEntropy &, const Arrays<Real> &arrays)
{
    const auto classes = static_cast<std::size_t>(arrays.inDims(0)[1]);
    std::vector<Real> logs(classes);
    double loss = 0;
    for (std::size_t n = 0; n < arrays.inCount(1); ++n) {
        const Real label = arrays.in[1][n];
        if (!(label >= 0 && label < static_cast<Real>(classes)))
            return badInput("input 1", "a label that is not a class",
                            "0 to " + std::to_string(classes) + " - 1");
        softmaxLine(arrays.in[0] + n * classes, logs.data(), classes, 1, {.logarithm = true});
        // MXNet takes the logarithm of the probability, of 1e-8 at least.
        loss -= std::max(static_cast<double>(logs[static_cast<std::size_t>(label)]), std::log(1e-8));
    }
    arrays.out[0][0] = static_cast<Real>(loss);
    return {};
}

HALFTONE_BOTH(Softmax)
HALFTONE_BOTH(SoftmaxActivation)
HALFTONE_BOTH(SoftmaxOutput)
HALFTONE_BOTH(SoftmaxCrossEntropy)

} // namespace halftone::backends::reference
