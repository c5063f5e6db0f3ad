#include "core/backends/reference/kernels.h"

#include <complex>
#include <numbers>
#include <vector>

namespace halftone::backends::reference {
namespace {

using Complex = std::complex<double>;

/// exp(±2πi k / n) for k below n.
std::vector<Complex> rootsOfUnity(std::size_t n, bool inverse)
{
    std::vector<Complex> roots(n);
    const double step = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
    for (std::size_t k = 0; k < n; ++k)
        roots[k] = std::polar(1.0, step * static_cast<double>(k));
    return roots;
}

/// The transform of `count` values that lie `stride` apart, whose roots are every `stride`-th of `roots` (Cooley and
/// Tukey 1965, by the smallest factor of the length; a prime one by the definition).
std::vector<Complex> transform(const Complex *values, std::size_t count, std::size_t stride,
                               const std::vector<Complex> &roots)
{
    std::size_t factor = 2;
    while (factor * factor <= count && count % factor != 0)
        ++factor;
    if (count % factor != 0)
        factor = count;
    std::vector<Complex> result(count);
    if (factor >= count) {
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t i = 0; i < count; ++i)
                result[k] += values[i * stride] * roots[i * k % count * stride];
        return result;
    }
    const std::size_t length = count / factor;
    for (std::size_t part = 0; part < factor; ++part) {
        const std::vector<Complex> inner = transform(values + part * stride, length, stride * factor, roots);
        for (std::size_t k = 0; k < count; ++k)
            result[k] += inner[k % length] * roots[part * k % count * stride];
    }
    return result;
}

} // namespace

/// As MXNet documents it (its CPU build has none): the inverse is not divided by the length, and its imaginary part is
/// dropped.
template <class Real>
Result<void> compute(const ops::Fourier &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const auto width = static_cast<std::size_t>(dims.back());
    const std::size_t length = op.inverse ? width / 2 : width;
    const std::vector<Complex> roots = rootsOfUnity(length, op.inverse);
    const std::size_t lines = extent(dims, 0, dims.size() - 1);
    arrays.workers.share(length == 0 ? 0 : lines, length * 64, [&](std::size_t begin, std::size_t end) {
        std::vector<Complex> values(length);
        for (std::size_t line = begin; line < end; ++line) {
            const Real *from = arrays.in[0] + line * width;
            for (std::size_t i = 0; i < length; ++i)
                values[i] = op.inverse ? Complex(from[2 * i], from[2 * i + 1]) : Complex(from[i]);
            const std::vector<Complex> spectrum = transform(values.data(), length, 1, roots);
            for (std::size_t i = 0; i < length; ++i) {
                if (op.inverse) {
                    arrays.out[0][line * length + i] = static_cast<Real>(spectrum[i].real());
                    continue;
                }
                Real *to = arrays.out[0] + 2 * (line * length + i);
                to[0] = static_cast<Real>(spectrum[i].real());
                to[1] = static_cast<Real>(spectrum[i].imag());
            }
        }
    });
    return {};
}

HALFTONE_BOTH(Fourier)

} // namespace halftone::backends::reference
