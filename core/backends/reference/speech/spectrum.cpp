#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/speech/discrete_fourier.h"

#include <algorithm>

/// Discrete Fourier transforms along an axis and of frames.
namespace halftone::backends::reference {
namespace {

/// Element `i` of data whose last axis is its one or two parts.
template <class Real>
Complex complexAt(const Real *data, std::size_t i, std::size_t parts)
{
    return {static_cast<double>(data[i * parts]),
            parts == 2 ? static_cast<double>(data[i * parts + 1]) : 0.0};
}

/// Where the lines of a transform lie in a tensor; all in its elements.
struct SignalLines
{
    AxisView view;
    std::size_t parts; ///< of a number: 1 or 2
    std::size_t length; ///< numbers
    std::size_t unit; ///< from one place of the view to the next
    std::size_t step; ///< from one number of a line to the next

    std::size_t begin(std::size_t line) const { return view.begin(line) * unit; }
};

SignalLines signalLines(const ops::DFT &op, DimSpan dims, bool isComplex)
{
    if (op.pairsInAxis) {
        const AxisView view(dims, dims.size() - 1);
        const std::size_t parts = isComplex ? 2 : 1;
        return {view, parts, view.length / parts, 1, parts};
    }
    const AxisView view(dims.first(dims.size() - 1), fromFront(op.axis, dims.size()));
    const auto parts = static_cast<std::size_t>(dims.back());
    return {view, parts, view.length, parts, view.inner * parts};
}

} // namespace

template <class Real>
Result<void> compute(const ops::DFT &op, const Arrays<Real> &arrays)
{
    const SignalLines from = signalLines(op, arrays.inDims(0), op.inverse);
    const SignalLines to = signalLines(op, arrays.outDims(0), !op.inverse);
    const bool toReal = op.inverse && op.onesided;
    const std::size_t length = op.length ? static_cast<std::size_t>(*op.length)
        : toReal                         ? (from.length == 0 ? 0 : 2 * (from.length - 1))
                                         : from.length;
    const bool isDivided = op.inverse && !op.pairsInAxis;
    const double scale = isDivided ? 1 / static_cast<double>(std::max<std::size_t>(length, 1)) : 1;
    const DiscreteFourier transform(length, op.inverse);
    const std::size_t given = std::min(from.length, toReal ? length / 2 + 1 : length);
    const std::size_t lines = length == 0 ? 0 : from.view.lines();
    arrays.workers.share(lines, length * 64, [&](std::size_t begin, std::size_t end) {
        std::vector<Complex> signal(length);
        for (std::size_t line = begin; line < end; ++line) {
            std::ranges::fill(signal, Complex());
            for (std::size_t i = 0; i < given; ++i)
                signal[i] = complexAt(arrays.in[0] + from.begin(line) + i * from.step, 0, from.parts);
            for (std::size_t i = length / 2 + 1; toReal && i < length; ++i)
                signal[i] = std::conj(signal[length - i]);
            const std::vector<Complex> result = transform(signal);
            for (std::size_t i = 0; i < to.length; ++i) {
                Real *out = arrays.out[0] + to.begin(line) + i * to.step;
                out[0] = static_cast<Real>(result[i].real() * scale);
                if (to.parts == 2)
                    out[1] = static_cast<Real>(result[i].imag() * scale);
            }
        }
    });
    return {};
}

template <class Real>
Result<void> compute(const ops::STFT &op, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const DimSpan out = arrays.outDims(0);
    const std::size_t parts = in.size() == 3 ? static_cast<std::size_t>(in[2]) : 1;
    const auto length = static_cast<std::size_t>(op.length);
    const auto bins = static_cast<std::size_t>(out[2]);
    const auto frames = static_cast<std::size_t>(out[1]);
    const Real *window = op.windowInput ? arrays.in[*op.windowInput] : nullptr;
    const DiscreteFourier transform(length, false);
    arrays.workers.share(
        static_cast<std::size_t>(in[0]) * frames, length * 40, [&](std::size_t begin, std::size_t end) {
            std::vector<Complex> signal(length);
            for (std::size_t f = begin; f < end; ++f) {
                const std::size_t first = f / frames * static_cast<std::size_t>(in[1])
                    + f % frames * static_cast<std::size_t>(op.step);
                for (std::size_t i = 0; i < length; ++i)
                    signal[i] = complexAt(arrays.in[0], first + i, parts)
                        * (window ? static_cast<double>(window[i]) : 1.0);
                const std::vector<Complex> result = transform(signal);
                for (std::size_t k = 0; k < bins; ++k) {
                    arrays.out[0][(f * bins + k) * 2] = static_cast<Real>(result[k].real());
                    arrays.out[0][(f * bins + k) * 2 + 1] = static_cast<Real>(result[k].imag());
                }
            }
        });
    return {};
}

HALFTONE_BOTH(DFT)
HALFTONE_BOTH(STFT)

} // namespace halftone::backends::reference
