#include "core/backends/reference/kernels.h"
#include "core/backends/reference/matrix.h"

#include <algorithm>
#include <cmath>

namespace halftone::backends::reference {
namespace {

std::ptrdiff_t signedOf(std::size_t value)
{
    return static_cast<std::ptrdiff_t>(value);
}

/// Weights and biases of one layer in one direction; rows go gate by gate (LSTM: input, forget, cell, output; GRU:
/// reset, update, new).
template <class Real>
struct LayerWeights
{
    const Real *input = nullptr; ///< (gate rows, features)
    const Real *recurrent = nullptr; ///< (gate rows, outputs)
    const Real *projection = nullptr; ///< (outputs, state), or null
    const Real *inputBias = nullptr;
    const Real *recurrentBias = nullptr;
    std::size_t features = 0;
};

template <class Real>
class Recurrence
{
public:
    Recurrence(const ops::Rnn &op, const Arrays<Real> &arrays)
        : m_op(op)
        , m_arrays(arrays)
        , m_steps(static_cast<std::size_t>(arrays.inDims(0)[0]))
        , m_batch(static_cast<std::size_t>(arrays.inDims(0)[1]))
        , m_directions(op.bidirectional ? 2 : 1)
        , m_state(static_cast<std::size_t>(op.stateSize))
        , m_out(static_cast<std::size_t>(op.projectionSize.value_or(op.stateSize)))
        , m_isLstm(op.cell == ops::Rnn::Cell::Lstm)
        , m_gates(m_isLstm                             ? 4
                      : op.cell == ops::Rnn::Cell::Gru ? 3
                                                       : 1)
        , m_rows(m_gates * m_state)
    {
        placeWeights(static_cast<std::size_t>(arrays.inDims(0)[2]));
        m_lengths.assign(m_batch, m_steps);
        const std::size_t lengthInput = m_isLstm ? 4 : 3;
        for (std::size_t n = 0; op.useSequenceLength && n < m_batch; ++n) {
            const Real length = arrays.in[lengthInput][n];
            m_lengths[n] = length >= static_cast<Real>(m_steps) ? m_steps
                : length > 0                                    ? static_cast<std::size_t>(length)
                                                                : 0;
        }
    }

    void run()
    {
        std::vector<Real> input(m_arrays.in[0], m_arrays.in[0] + m_arrays.inCount(0));
        const auto layers = static_cast<std::size_t>(m_op.layers);
        for (std::size_t layer = 0; layer < layers && !m_arrays.workers.stopped(); ++layer) {
            std::vector<Real> output(m_steps * m_batch * m_directions * m_out, Real(0));
            for (std::size_t d = 0; d < m_directions; ++d)
                runDirection(layer, d, input, output);
            input = std::move(output);
        }
        std::ranges::copy(input, m_arrays.out[0]);
    }

private:
    /// All weights, layer by layer and direction by direction, then all biases in the same order.
    void placeWeights(std::size_t features)
    {
        const Real *at = m_arrays.in[1];
        m_weights.resize(static_cast<std::size_t>(m_op.layers) * m_directions);
        const auto take = [&at](std::size_t count) {
            const Real *begin = at;
            at += count;
            return begin;
        };
        for (std::size_t i = 0; i < m_weights.size(); ++i) {
            LayerWeights<Real> &weights = m_weights[i];
            weights.features = i < m_directions ? features : m_out * m_directions;
            weights.input = take(m_rows * weights.features);
            weights.recurrent = take(m_rows * m_out);
            if (m_op.projectionSize)
                weights.projection = take(m_out * m_state);
        }
        for (LayerWeights<Real> &weights : m_weights) {
            weights.inputBias = take(m_rows);
            weights.recurrentBias = take(m_rows);
        }
    }

    void runDirection(std::size_t layer, std::size_t direction, const std::vector<Real> &input,
                      std::vector<Real> &output)
    {
        const std::size_t cell = layer * m_directions + direction;
        const LayerWeights<Real> &weights = m_weights[cell];
        // The input's share of all steps at once: (steps · batch, gate rows).
        std::vector<Real> fromInput(m_steps * m_batch * m_rows);
        multiply<Real>(m_arrays.summing(), m_rows, weights.features, m_steps * m_batch,
                       {weights.input, signedOf(weights.features), 1},
                       MatrixView<const Real>{input.data(), 1, signedOf(weights.features)}, weights.inputBias,
                       {fromInput.data(), 1, signedOf(m_rows)});
        const Real *first = m_arrays.in[2] + cell * m_batch * m_out;
        std::vector<Real> hidden(first, first + m_batch * m_out);
        std::vector<Real> memory(m_batch * m_state, Real(0));
        if (m_isLstm)
            std::copy_n(m_arrays.in[3] + cell * m_batch * m_state, memory.size(), memory.begin());
        std::vector<Real> fromState(m_batch * m_rows);
        std::vector<Real> next(m_state);
        for (std::size_t step = 0; step < m_steps && !m_arrays.workers.stopped(); ++step) {
            multiply<Real>(m_arrays.summing(), m_rows, m_out, m_batch,
                           {weights.recurrent, signedOf(m_out), 1},
                           MatrixView<const Real>{hidden.data(), 1, signedOf(m_out)}, weights.recurrentBias,
                           {fromState.data(), 1, signedOf(m_rows)});
            for (std::size_t n = 0; n < m_batch; ++n) {
                if (step >= m_lengths[n])
                    continue;
                const std::size_t t = direction == 0 ? step : m_lengths[n] - 1 - step;
                advance(fromInput.data() + (t * m_batch + n) * m_rows, fromState.data() + n * m_rows,
                        hidden.data() + n * m_out, memory.data() + n * m_state, next);
                Real *now = hidden.data() + n * m_out;
                project(weights, next, now);
                std::copy_n(now, m_out,
                            output.data() + ((t * m_batch + n) * m_directions + direction) * m_out);
            }
        }
        tell(1, cell, hidden);
        if (m_isLstm)
            tell(2, cell, memory);
    }

    void project(const LayerWeights<Real> &weights, const std::vector<Real> &state, Real *out) const
    {
        if (!weights.projection) {
            std::ranges::copy(state, out);
            return;
        }
        for (std::size_t r = 0; r < m_out; ++r) {
            out[r] = 0;
            for (std::size_t k = 0; k < m_state; ++k)
                out[r] += weights.projection[r * m_state + k] * state[k];
        }
    }

    static Real sigmoid(Real x) { return Real(1) / (Real(1) + std::exp(-x)); }

    /// One step of one sequence: x and h are the gates' sums from the input and from the state.
    void advance(const Real *x, const Real *h, const Real *hidden, Real *memory,
                 std::vector<Real> &next) const
    {
        using Cell = ops::Rnn::Cell;
        const std::size_t s = m_state;
        for (std::size_t i = 0; i < s; ++i) {
            switch (m_op.cell) {
            case Cell::Relu:
                next[i] = x[i] + h[i] > 0 ? x[i] + h[i] : Real(0); // of a NaN too, as MXNet's
                break;
            case Cell::Tanh:
                next[i] = std::tanh(x[i] + h[i]);
                break;
            case Cell::Gru: {
                const Real reset = sigmoid(x[i] + h[i]);
                const Real update = sigmoid(x[s + i] + h[s + i]);
                const Real fresh = std::tanh(x[2 * s + i] + reset * h[2 * s + i]);
                next[i] = (1 - update) * fresh + update * hidden[i];
                break;
            }
            case Cell::Lstm: {
                const Real in = sigmoid(x[i] + h[i]);
                const Real forget = sigmoid(x[s + i] + h[s + i]);
                const Real fresh = std::tanh(x[2 * s + i] + h[2 * s + i]);
                const Real out = sigmoid(x[3 * s + i] + h[3 * s + i]);
                memory[i] = clipped(forget * memory[i] + in * fresh);
                next[i] = out * std::tanh(memory[i]);
                break;
            }
            }
        }
    }

    Real clipped(Real x) const
    {
        if (m_op.cellClipMin && x < static_cast<Real>(*m_op.cellClipMin))
            return static_cast<Real>(*m_op.cellClipMin);
        if (m_op.cellClipMax && x > static_cast<Real>(*m_op.cellClipMax))
            return static_cast<Real>(*m_op.cellClipMax);
        return m_op.cellClipNan && std::isnan(x) ? Real(0) : x;
    }

    void tell(std::size_t output, std::size_t cell, const std::vector<Real> &state)
    {
        if (m_op.stateOutputs && output < m_arrays.out.size() && m_arrays.out[output])
            std::ranges::copy(state, m_arrays.out[output] + cell * state.size());
    }

    const ops::Rnn &m_op;
    const Arrays<Real> &m_arrays;
    std::size_t m_steps, m_batch, m_directions, m_state, m_out;
    bool m_isLstm;
    std::size_t m_gates, m_rows;
    std::vector<LayerWeights<Real>> m_weights;
    std::vector<std::size_t> m_lengths;
};

} // namespace

template <class Real>
Result<void> compute(const ops::Rnn &op, const Arrays<Real> &arrays)
{
    Recurrence<Real>(op, arrays).run();
    return {};
}

HALFTONE_BOTH(Rnn)

} // namespace halftone::backends::reference
