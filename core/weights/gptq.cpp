#include "core/weights/gptq.h"

#include "core/base/share_work.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace halftone::weights {
namespace {

constexpr std::size_t kFedForward = 128; ///< inputs whose errors are fed forward together
constexpr std::size_t kRowsAtATime = 32; ///< of a square matrix that are worked on together
constexpr double kDamp = 0.01; ///< of the mean of the diagonal

/// A square matrix by rows.
class Square
{
public:
    Square(std::vector<double> &values, std::size_t size)
        : m_values(values.data())
        , m_size(size)
    {
    }
    double *row(std::size_t k) const { return m_values + k * m_size; }
    std::size_t size() const { return m_size; }

private:
    double *m_values;
    std::size_t m_size;
};

void addScaled(double factor, const double *from, double *to, std::size_t count)
{
    for (std::size_t k = 0; k < count; ++k)
        to[k] += factor * from[k];
}

/// R, upper, in place of the upper half of a positive definite matrix that is RᵀR. False where it is not positive definite.
bool factorize(const Square &matrix, unsigned threads)
{
    const std::size_t size = matrix.size();
    for (std::size_t first = 0; first < size; first += kRowsAtATime) {
        const std::size_t end = std::min(first + kRowsAtATime, size);
        for (std::size_t k = first; k < end; ++k) {
            double *const pivot = matrix.row(k);
            if (!(pivot[k] > 0) || !std::isfinite(pivot[k]))
                return false;
            const double root = std::sqrt(pivot[k]);
            for (std::size_t j = k; j < size; ++j)
                pivot[j] /= root;
            for (std::size_t i = k + 1; i < end; ++i)
                addScaled(-pivot[i], pivot + i, matrix.row(i) + i, size - i);
        }
        shareParts(threads, size - end, [&](std::size_t part, unsigned) {
            const std::size_t i = end + part;
            for (std::size_t k = first; k < end; ++k)
                addScaled(-matrix.row(k)[i], matrix.row(k) + i, matrix.row(i) + i, size - i);
            return true;
        });
    }
    return true;
}

/// The inverse of R, upper, in its place.
void invert(const Square &matrix, unsigned threads)
{
    const std::size_t size = matrix.size();
    // Columns are independent of each other, so that threads share them in bands.
    constexpr std::size_t kBand = 256;
    const std::size_t bands = (size + kBand - 1) / kBand;
    std::vector<double> inverse(size * size);
    const Square result(inverse, size);
    shareParts(threads, bands, [&](std::size_t band, unsigned) {
        const std::size_t left = band * kBand;
        const std::size_t right = std::min(left + kBand, size);
        for (std::size_t i = right; i-- > 0;) {
            double *const to = result.row(i);
            if (i >= left)
                to[i] = 1;
            const std::size_t from = std::max(i, left);
            for (std::size_t k = i + 1; k < right; ++k) {
                const std::size_t begin = std::max(k, left);
                addScaled(-matrix.row(i)[k], result.row(k) + begin, to + begin, right - begin);
            }
            for (std::size_t j = from; j < right; ++j)
                to[j] /= matrix.row(i)[i];
        }
        return true;
    });
    std::ranges::copy(inverse, matrix.row(0));
}

/// Turned by half a turn: the last row, from its end, is the first.
void turn(std::vector<double> &values)
{
    std::ranges::reverse(values);
}

} // namespace

Result<Gptq> Gptq::create(std::vector<double> products, std::size_t inputs, unsigned threads)
{
    const Square matrix(products, inputs);
    double mean = 0;
    for (std::size_t k = 0; k < inputs; ++k)
        mean += matrix.row(k)[k] / static_cast<double>(inputs);
    Gptq gptq;
    gptq.m_inputs = inputs;
    gptq.m_isDead.resize(inputs);
    for (std::size_t k = 0; k < inputs; ++k) {
        double &diagonal = matrix.row(k)[k];
        gptq.m_isDead[k] = diagonal == 0;
        diagonal = gptq.m_isDead[k] ? 1 : diagonal + kDamp * mean;
    }
    // With J = P·H·P = RᵀR, where P reverses the order, the inverse of H is UᵀU for U = P·(R⁻¹)ᵀ·P.
    const unsigned all = threadsFor(threads);
    turn(products);
    if (!factorize(matrix, all))
        return unsupported({}, "products of a layer's inputs that have no inverse",
                           "; pass examples with finite values, or use method mse");
    invert(matrix, all);
    gptq.m_factor.resize(inputs * inputs);
    for (std::size_t a = 0; a < inputs; ++a)
        for (std::size_t b = a; b < inputs; ++b)
            gptq.m_factor[a * inputs + b] = static_cast<float>(matrix.row(inputs - 1 - b)[inputs - 1 - a]);
    return gptq;
}

/// The inputs first … end - 1 of each output.
void Gptq::encodePanel(const BlockCoder &coder, const OutputPanel &panel, std::size_t first, std::size_t end,
                       std::vector<float> &errors) const
{
    const std::size_t blocks = panel.inputs / panel.block;
    for (std::size_t k = 0; k < panel.outputs; ++k) {
        float *const weights = panel.weights + k * panel.inputs;
        for (std::size_t i = first; i < end; ++i) {
            BlockScale &scale = panel.scales[k * blocks + i / panel.block];
            if (i % panel.block == 0)
                scale = coder.scaleOf(std::span(weights + i, panel.block));
            std::uint8_t &code = panel.codes[k * panel.inputs + i];
            coder.codesOf(std::span(weights + i, 1), scale, &code);
            float value = 0;
            coder.decode(std::span(&code, 1), scale, &value);
            const float error = (weights[i] - value) / row(i)[i];
            errors[k * kFedForward + i - first] = error;
            for (std::size_t j = i + 1; j < end; ++j)
                weights[j] -= error * row(i)[j];
        }
    }
}

void Gptq::encode(const BlockCoder &coder, const OutputPanel &panel) const
{
    std::vector<float> errors(panel.outputs * kFedForward);
    for (std::size_t k = 0; k < panel.outputs; ++k)
        for (std::size_t i = 0; i < m_inputs; ++i)
            if (m_isDead[i])
                panel.weights[k * panel.inputs + i] = 0;
    for (std::size_t first = 0; first < m_inputs; first += kFedForward) {
        const std::size_t end = std::min(first + kFedForward, m_inputs);
        encodePanel(coder, panel, first, end, errors);
        for (std::size_t i = first; i < end; ++i)
            for (std::size_t k = 0; k < panel.outputs; ++k) {
                float *const weights = panel.weights + k * panel.inputs;
                const float error = errors[k * kFedForward + i - first];
                for (std::size_t j = end; j < m_inputs; ++j)
                    weights[j] -= error * row(i)[j];
            }
    }
    // What fills up the last block.
    const std::size_t blocks = panel.inputs / panel.block;
    for (std::size_t k = 0; k < panel.outputs && m_inputs < panel.inputs; ++k)
        coder.codesOf(std::span(panel.weights + k * panel.inputs + m_inputs, panel.inputs - m_inputs),
                      panel.scales[(k + 1) * blocks - 1], panel.codes + k * panel.inputs + m_inputs);
}

} // namespace halftone::weights
