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

} // namespace

template <class Real>
Result<void> compute(const ops::AxisFourier &op, const Arrays<Real> &arrays)
{
    const DimSpan in = arrays.inDims(0);
    const std::size_t axis = fromFront(op.axis, in.size());
    const AxisView from(in.first(in.size() - 1), axis);
    const AxisView to(arrays.outDims(0).first(in.size() - 1), axis);
    const auto parts = static_cast<std::size_t>(in.back());
    const auto outParts = static_cast<std::size_t>(arrays.outDims(0).back());
    const bool toReal = op.inverse && op.onesided;
    const std::size_t length = op.length ? static_cast<std::size_t>(*op.length)
        : toReal                         ? (from.length == 0 ? 0 : 2 * (from.length - 1))
                                         : from.length;
    const double scale = op.inverse ? 1 / static_cast<double>(std::max<std::size_t>(length, 1)) : 1;
    const DiscreteFourier transform(length, op.inverse);
    for (std::size_t line = 0; line < from.lines() && !arrays.workers.stopped(); ++line) {
        std::vector<Complex> signal(length);
        const std::size_t given = std::min(from.length, toReal ? length / 2 + 1 : length);
        for (std::size_t i = 0; i < given; ++i)
            signal[i] = complexAt(arrays.in[0], from.begin(line) + i * from.inner, parts);
        for (std::size_t i = length / 2 + 1; toReal && i < length; ++i)
            signal[i] = std::conj(signal[length - i]);
        const std::vector<Complex> result = transform(signal);
        for (std::size_t i = 0; i < to.length; ++i) {
            Real *out = arrays.out[0] + (to.begin(line) + i * to.inner) * outParts;
            out[0] = static_cast<Real>(result[i].real() * scale);
            if (outParts == 2)
                out[1] = static_cast<Real>(result[i].imag() * scale);
        }
    }
    return {};
}

template <class Real>
Result<void> compute(const ops::FrameFourier &op, const Arrays<Real> &arrays)
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

HALFTONE_BOTH(AxisFourier)
HALFTONE_BOTH(FrameFourier)

} // namespace halftone::backends::reference
