#include "core/backends/reference/axis_walk.h"
#include "core/backends/reference/kernels.h"

#include <algorithm>
#include <cmath>
#include <complex>

/// Discrete Fourier transforms by their definition, powers of two by halves.
namespace halftone::backends::reference {
namespace {

using Complex = std::complex<double>;

constexpr double kPi = 3.14159265358979323846;

/// The sums as the definition has them; angles are reduced first, which keeps them exact.
std::vector<Complex> slowTransform(const std::vector<Complex> &signal, double sign)
{
    const std::size_t length = signal.size();
    std::vector<Complex> turns(length);
    for (std::size_t k = 0; k < length; ++k)
        turns[k] = std::polar(1.0, sign * 2 * kPi * static_cast<double>(k) / static_cast<double>(length));
    std::vector<Complex> result(length);
    for (std::size_t k = 0; k < length; ++k)
        for (std::size_t n = 0; n < length; ++n)
            result[k] += signal[n] * turns[k * n % length];
    return result;
}

std::vector<Complex> transform(const std::vector<Complex> &signal, double sign)
{
    const std::size_t length = signal.size();
    if (length < 4 || length % 2 != 0)
        return slowTransform(signal, sign);
    std::vector<Complex> even(length / 2);
    std::vector<Complex> odd(length / 2);
    for (std::size_t i = 0; i < length / 2; ++i) {
        even[i] = signal[2 * i];
        odd[i] = signal[2 * i + 1];
    }
    even = transform(even, sign);
    odd = transform(odd, sign);
    std::vector<Complex> result(length);
    for (std::size_t k = 0; k < length / 2; ++k) {
        const Complex turned
            = odd[k] * std::polar(1.0, sign * 2 * kPi * static_cast<double>(k) / static_cast<double>(length));
        result[k] = even[k] + turned;
        result[k + length / 2] = even[k] - turned;
    }
    return result;
}

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
    for (std::size_t line = 0; line < from.lines(); ++line) {
        std::vector<Complex> signal(length);
        const std::size_t given = std::min(from.length, toReal ? length / 2 + 1 : length);
        for (std::size_t i = 0; i < given; ++i)
            signal[i] = complexAt(arrays.in[0], from.begin(line) + i * from.inner, parts);
        for (std::size_t i = length / 2 + 1; toReal && i < length; ++i)
            signal[i] = std::conj(signal[length - i]);
        const std::vector<Complex> result = transform(signal, op.inverse ? 1 : -1);
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
    arrays.workers.share(
        static_cast<std::size_t>(in[0]) * frames, length * 40, [&](std::size_t begin, std::size_t end) {
            std::vector<Complex> signal(length);
            for (std::size_t f = begin; f < end; ++f) {
                const std::size_t first = f / frames * static_cast<std::size_t>(in[1])
                    + f % frames * static_cast<std::size_t>(op.step);
                for (std::size_t i = 0; i < length; ++i)
                    signal[i] = complexAt(arrays.in[0], first + i, parts)
                        * (window ? static_cast<double>(window[i]) : 1.0);
                const std::vector<Complex> result = transform(signal, -1);
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
