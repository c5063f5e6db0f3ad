#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace halftone::backends::reference {

using Complex = std::complex<double>;

/// Discrete Fourier transforms of one length, in n log n steps whatever its factors are: by the smallest factor (Cooley and Tukey
/// 1965); where that is large, as a convolution whose length is a power of two (Bluestein 1970).
class DiscreteFourier
{
public:
    /// inverse  with exponents of the other sign; nothing is divided by the length
    DiscreteFourier(std::size_t length, bool inverse);

    /// Needs: as many values as the length.
    std::vector<Complex> operator()(const std::vector<Complex> &signal) const;

private:
    std::vector<Complex> transform(const Complex *values, std::size_t count, std::size_t stride) const;
    std::vector<Complex> byConvolution(const std::vector<Complex> &signal) const;

    std::size_t m_length;
    std::vector<Complex> m_roots; ///< exp(±2πi k / length)
    std::vector<Complex> m_chirp; ///< exp(±πi k² / length), of a length with a large smallest factor
    std::vector<Complex> m_filter; ///< the transform of the chirp's conjugate, padded to a power of two
    std::vector<Complex> m_filterRoots;
};

} // namespace halftone::backends::reference
