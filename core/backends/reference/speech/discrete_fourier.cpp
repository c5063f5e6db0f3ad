#include "core/backends/reference/speech/discrete_fourier.h"

#include <bit>
#include <numbers>
#include <utility>

namespace halftone::backends::reference {
namespace {

constexpr std::size_t kLargestFactor = 64; ///< that is summed up as the definition has it

std::size_t smallestFactor(std::size_t count)
{
    for (std::size_t factor = 2; factor <= kLargestFactor && factor * factor <= count; ++factor)
        if (count % factor == 0)
            return factor;
    return count;
}

/// Has it factors up to kLargestFactor alone?
bool isSmooth(std::size_t count)
{
    while (count > kLargestFactor) {
        const std::size_t factor = smallestFactor(count);
        if (factor == count)
            return false;
        count /= factor;
    }
    return true;
}

std::vector<Complex> rootsOfUnity(std::size_t n, double sign)
{
    std::vector<Complex> roots(n);
    for (std::size_t k = 0; k < n; ++k)
        roots[k]
            = std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
    return roots;
}

/// In place. Needs: as many values as `roots`, a power of two.
void halve(std::vector<Complex> &values, const std::vector<Complex> &roots)
{
    const std::size_t length = values.size();
    for (std::size_t i = 1, mirrored = 0; i < length; ++i) {
        std::size_t bit = length / 2;
        for (; (mirrored & bit) != 0; bit /= 2)
            mirrored ^= bit;
        mirrored ^= bit;
        if (i < mirrored)
            std::swap(values[i], values[mirrored]);
    }
    for (std::size_t half = 1; half < length; half *= 2) {
        const std::size_t step = length / (2 * half);
        for (std::size_t begin = 0; begin < length; begin += 2 * half) {
            for (std::size_t k = 0; k < half; ++k) {
                const Complex turned = values[begin + half + k] * roots[k * step];
                values[begin + half + k] = values[begin + k] - turned;
                values[begin + k] += turned;
            }
        }
    }
}

} // namespace

DiscreteFourier::DiscreteFourier(std::size_t length, bool inverse)
    : m_length(length)
{
    const double sign = inverse ? 1 : -1;
    if (isSmooth(length)) {
        m_roots = rootsOfUnity(length, sign);
        return;
    }
    m_chirp.resize(length);
    std::size_t square = 0; // k² modulo 2 · length, so that angles stay exact
    for (std::size_t k = 0; k < length; ++k) {
        m_chirp[k] = std::polar(
            1.0, sign * std::numbers::pi * static_cast<double>(square) / static_cast<double>(length));
        square = (square + 2 * k + 1) % (2 * length);
    }
    m_filter.resize(std::bit_ceil(2 * length - 1));
    m_filterRoots = rootsOfUnity(m_filter.size(), -1);
    for (std::size_t k = 0; k < length; ++k)
        m_filter[k] = m_filter[k == 0 ? 0 : m_filter.size() - k] = std::conj(m_chirp[k]);
    halve(m_filter, m_filterRoots);
}

std::vector<Complex> DiscreteFourier::operator()(const std::vector<Complex> &signal) const
{
    if (!m_chirp.empty())
        return byConvolution(signal);
    if (m_length > 1 && std::has_single_bit(m_length)) {
        std::vector<Complex> values = signal;
        halve(values, m_roots);
        return values;
    }
    return transform(signal.data(), m_length, 1);
}

/// Of `count` values that lie `stride` apart, whose roots are every `stride`-th.
std::vector<Complex> DiscreteFourier::transform(const Complex *values, std::size_t count,
                                                std::size_t stride) const
{
    const std::size_t factor = smallestFactor(count);
    std::vector<Complex> result(count);
    if (factor == count) {
        for (std::size_t k = 0; k < count; ++k)
            for (std::size_t i = 0; i < count; ++i)
                result[k] += values[i * stride] * m_roots[i * k % count * stride];
        return result;
    }
    const std::size_t length = count / factor;
    for (std::size_t part = 0; part < factor; ++part) {
        const std::vector<Complex> inner = transform(values + part * stride, length, stride * factor);
        for (std::size_t k = 0; k < count; ++k)
            result[k] += inner[k % length] * m_roots[part * k % count * stride];
    }
    return result;
}

std::vector<Complex> DiscreteFourier::byConvolution(const std::vector<Complex> &signal) const
{
    std::vector<Complex> values(m_filter.size());
    for (std::size_t k = 0; k < m_length; ++k)
        values[k] = signal[k] * m_chirp[k];
    halve(values, m_filterRoots);
    // The inverse transform by the same steps: of the conjugate, conjugated and divided by the length.
    for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = std::conj(values[k] * m_filter[k]);
    halve(values, m_filterRoots);
    const double scale = 1 / static_cast<double>(values.size());
    std::vector<Complex> result(m_length);
    for (std::size_t k = 0; k < m_length; ++k)
        result[k] = std::conj(values[k]) * scale * m_chirp[k];
    return result;
}

} // namespace halftone::backends::reference
