#include "core/backends/reference/kernels.h"
#include "core/backends/reference/speech/discrete_fourier.h"

#include <vector>

namespace halftone::backends::reference {

/// As MXNet documents it (its CPU build has none): the inverse is not divided by the length, and its imaginary part is
/// dropped.
template <class Real>
Result<void> compute(const ops::Fourier &op, const Arrays<Real> &arrays)
{
    const DimSpan dims = arrays.inDims(0);
    const auto width = static_cast<std::size_t>(dims.back());
    const std::size_t length = op.inverse ? width / 2 : width;
    const DiscreteFourier transform(length, op.inverse);
    const std::size_t lines = extent(dims, 0, dims.size() - 1);
    arrays.workers.share(length == 0 ? 0 : lines, length * 64, [&](std::size_t begin, std::size_t end) {
        std::vector<Complex> values(length);
        for (std::size_t line = begin; line < end; ++line) {
            const Real *from = arrays.in[0] + line * width;
            for (std::size_t i = 0; i < length; ++i)
                values[i] = op.inverse ? Complex(from[2 * i], from[2 * i + 1]) : Complex(from[i]);
            const std::vector<Complex> spectrum = transform(values);
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
