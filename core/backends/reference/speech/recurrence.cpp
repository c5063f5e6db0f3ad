#include "core/backends/reference/dynamic_codes.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/matrix.h"
#include "core/ops/recurrent_parts.h"

#include <array>
#include <vector>

/// Recurrent layers by their equations, a step at a time.
namespace halftone::backends::reference {
namespace {

using ops::Recurrence;

template <class Real>
Real activated(const Recurrence::Function &f, Real x)
{
    using Kind = Recurrence::Function::Kind;
    const auto alpha = static_cast<Real>(f.alpha);
    const auto beta = static_cast<Real>(f.beta);
    switch (f.kind) {
    case Kind::Tanh:
        return std::tanh(x);
    case Kind::Relu:
        return std::max(x, Real(0));
    case Kind::Sigmoid:
        return Real(1) / (Real(1) + std::exp(-x));
    case Kind::Affine:
        return alpha * x + beta;
    case Kind::LeakyRelu:
        return x >= 0 ? x : alpha * x;
    case Kind::ThresholdedRelu:
        return x > alpha ? x : Real(0);
    case Kind::ScaledTanh:
        return alpha * std::tanh(beta * x);
    case Kind::HardSigmoid:
        return std::clamp(alpha * x + beta, Real(0), Real(1));
    case Kind::Elu:
        return x >= 0 ? x : alpha * std::expm1(x);
    case Kind::Softsign:
        return x / (Real(1) + std::abs(x));
    case Kind::Softplus:
        return x > 20 ? x : std::log1p(std::exp(x));
    }
    return x;
}

/// A matrix of a direction, whose rows are gates.
template <class Real>
struct GateMatrix
{
    const Real *rows = nullptr;
    /// Where the operator has codes: these less their zero points, whose sums are exact in double, and what one of each row stands for.
    std::vector<double> codes{};
    std::vector<double> scales{};
};

/// What matrices are multiplied by, column after column: values, or codes less their zero point and what one of them stands for.
template <class Real>
struct ProductColumns
{
    const Real *values = nullptr;
    std::size_t count = 0;
    double scale = 1;
};

/// What a layer reads and writes beside its parameters and states.
template <class Real>
struct LayerData
{
    const Real *in = nullptr; ///< (T, N, features), or with the batch first
    Real *out = nullptr; ///< null: nobody reads it
    // Elements of the output from one step, sequence and direction to the next.
    std::size_t step = 0;
    std::size_t sequence = 0;
    std::size_t direction = 0;
};

/// One direction of a layer.
template <class Real>
class Direction
{
public:
    Direction(const Recurrence &op, const Arrays<Real> &arrays, std::size_t cell,
              const ops::RecurrentPart &part, const LayerData<Real> &data)
        : m_op(op)
        , m_arrays(arrays)
        , m_cell(cell)
        , m_which(cell % static_cast<std::size_t>(op.directions()))
        , m_part(part)
        , m_data(data)
        , m_order(ops::recurrentGateOrder(op))
        , m_hidden(static_cast<std::size_t>(op.hiddenSize))
        , m_outputs(static_cast<std::size_t>(op.outputSize()))
        , m_rows(static_cast<std::size_t>(op.gates()) * m_hidden)
        , m_steps(static_cast<std::size_t>(arrays.inDims(0)[op.batchFirst ? 1 : 0]))
        , m_batch(static_cast<std::size_t>(arrays.inDims(0)[op.batchFirst ? 0 : 1]))
        , m_weights(matrix(1, part.weights, part.features))
        , m_recurrent(matrix(op.stack ? 1 : 2, part.recurrent, m_outputs))
        , m_functions(std::span(op.functions).subspan(m_which * op.functionsEach(), op.functionsEach()))
    {
        if (op.stack || op.hasBias) {
            const Real *const biases = arrays.in[op.stack ? 1 : 3];
            m_inputBias = biases + part.inputBias;
            m_recurrentBias = biases + part.recurrentBias;
        }
        if (op.hasPeepholes)
            m_peepholes = arrays.in[op.peepholesInput()] + m_which * 3 * m_hidden;
        for (std::size_t n = 0; n < m_batch; ++n)
            m_lengths.push_back(lengthOf(n));
        m_state = firstState(op.hasHidden ? arrays.in[op.hiddenInput()] : nullptr, m_outputs);
        m_memory = firstState(op.hasCell ? arrays.in[op.cellInput()] : nullptr, m_hidden);
    }

    void run()
    {
        std::vector<Real> fromData(m_steps * m_batch * m_rows);
        multiplyData(fromData);
        std::vector<Real> fromState(m_batch * m_rows);
        std::vector<Real> given(m_hidden);
        for (std::size_t k = 0; k < m_steps && !m_arrays.workers.stopped(); ++k) {
            m_before = m_state;
            const double scale = m_op.hasCodes ? codeStates(k) : 1.0;
            multiply(m_recurrent, 0, m_rows, m_outputs, {m_before.data(), m_batch, scale}, m_recurrentBias,
                     fromState.data());
            if (m_op.cell == Recurrence::Cell::Gru && !m_op.linearBeforeReset)
                multiplyReset(fromData, k, fromState);
            for (std::size_t n = 0; n < m_batch; ++n) {
                if (k >= m_lengths[n])
                    continue;
                advance(fromData.data() + columnOf(n, k) * m_rows, fromState.data() + n * m_rows, n, given);
                give(n, k, given);
            }
        }
        writeStates();
    }

private:
    GateMatrix<Real> matrix(std::size_t input, std::size_t first, std::size_t depth) const
    {
        GateMatrix<Real> made;
        made.rows = m_arrays.in[input] + first;
        if (!m_op.hasCodes)
            return made;
        const std::size_t scaleInput = m_op.scalesInput() + 2 * (input - 1);
        const auto ofRow = [&](std::size_t of, std::size_t row) {
            const bool isOne = m_arrays.inDims(of).size() == 1;
            return static_cast<double>(m_arrays.in[of][isOne ? m_which : m_which * m_rows + row]);
        };
        for (std::size_t row = 0; row < m_rows; ++row) {
            made.scales.push_back(ofRow(scaleInput, row));
            for (std::size_t k = 0; k < depth; ++k)
                made.codes.push_back(static_cast<double>(made.rows[k * m_rows + row])
                                     - ofRow(scaleInput + 1, row));
        }
        return made;
    }

    /// Of a length that is not a number 0.
    std::size_t lengthOf(std::size_t n) const
    {
        if (!m_op.hasLengths)
            return m_steps;
        const Real length = m_arrays.in[m_op.lengthsInput()][n];
        return length >= static_cast<Real>(m_steps) ? m_steps
            : length > 0                            ? static_cast<std::size_t>(length)
                                                    : 0;
    }

    std::size_t stateAt(std::size_t n, std::size_t size) const
    {
        const auto directions = static_cast<std::size_t>(m_op.directions());
        return (m_op.batchFirst ? n * directions + m_which : m_cell * m_batch + n) * size;
    }

    /// (N, size)
    std::vector<Real> firstState(const Real *given, std::size_t size) const
    {
        std::vector<Real> state(m_batch * size, Real(0));
        for (std::size_t n = 0; given && n < m_batch; ++n)
            std::copy_n(given + stateAt(n, size), size, state.data() + n * size);
        return state;
    }

    std::size_t timeOf(std::size_t n, std::size_t k) const
    {
        const bool reverse = m_op.direction == Recurrence::Direction::Reverse || m_which == 1;
        return reverse ? m_lengths[n] - 1 - k : k;
    }
    /// Which of the columns of the data a step reads. Needs: k < m_lengths[n]
    std::size_t columnOf(std::size_t n, std::size_t k) const
    {
        return m_op.batchFirst ? n * m_steps + timeOf(n, k) : timeOf(n, k) * m_batch + n;
    }

    /// to[column][row] = the row · the column + bias[row], of `rows` rows from `first` on.
    void multiply(const GateMatrix<Real> &matrix, std::size_t first, std::size_t rows, std::size_t depth,
                  const ProductColumns<Real> &columns, const Real *bias, Real *to) const
    {
        const auto length = static_cast<std::ptrdiff_t>(depth);
        const auto width = static_cast<std::ptrdiff_t>(rows);
        if (!m_op.hasCodes)
            return reference::multiply<Real>(m_arrays.summing(), rows, depth, columns.count,
                                             {matrix.rows + first * depth, length, 1},
                                             MatrixView<const Real>{columns.values, 1, length},
                                             bias ? bias + first : nullptr, {to, 1, width});
        const std::vector<double> codes(columns.values, columns.values + columns.count * depth);
        std::vector<double> sums(columns.count * rows);
        reference::multiply<double>(
            {m_arrays.workers}, rows, depth, columns.count, {matrix.codes.data() + first * depth, length, 1},
            MatrixView<const double>{codes.data(), 1, length}, nullptr, {sums.data(), 1, width});
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const std::size_t row = first + i % rows;
            to[i] = static_cast<Real>(sums[i] * (matrix.scales[row] * columns.scale)
                                      + (bias ? static_cast<double>(bias[row]) : 0.0));
        }
    }

    /// The data's share of all steps at once.
    void multiplyData(std::vector<Real> &to) const
    {
        const std::size_t columns = m_steps * m_batch;
        if (!m_op.hasCodes)
            return multiply(m_weights, 0, m_rows, m_part.features, {m_data.in, columns}, m_inputBias,
                            to.data());
        // Codes are of all steps that any sequence has; the others are not read.
        const std::size_t longest = m_lengths.empty() ? 0 : *std::ranges::max_element(m_lengths);
        std::vector<Real> codes(m_data.in, m_data.in + columns * m_part.features);
        const double scale = code(std::span(codes).first(longest * m_batch * m_part.features));
        multiply(m_weights, 0, m_rows, m_part.features, {codes.data(), columns, scale}, m_inputBias,
                 to.data());
    }

    /// Values as codes less their zero point; what one of them stands for.
    static double code(std::span<Real> values)
    {
        const auto [low, high] = endsOf(values);
        const DynamicScale scale = dynamicScale(low, high);
        for (Real &value : values)
            value = static_cast<Real>(scale.codeOf(static_cast<float>(value)) - scale.zero);
        return static_cast<double>(scale.scale);
    }

    static std::pair<float, float> endsOf(std::span<const Real> values)
    {
        std::pair<float, float> ends{0.0F, 0.0F};
        for (const Real value : values) {
            ends.first = std::min(ends.first, static_cast<float>(value));
            ends.second = std::max(ends.second, static_cast<float>(value));
        }
        return ends;
    }

    /// The states before a step as codes, those of sequences that ended with the step before too; what one of them stands for.
    double codeStates(std::size_t k)
    {
        float low = 0;
        float high = 0;
        for (std::size_t n = 0; n < m_batch; ++n) {
            if (k > m_lengths[n])
                continue;
            const auto ends = endsOf(std::span(m_state).subspan(n * m_outputs, m_outputs));
            low = std::min(low, ends.first);
            high = std::max(high, ends.second);
        }
        const DynamicScale scale = dynamicScale(low, high);
        for (Real &value : m_before)
            value = static_cast<Real>(scale.codeOf(static_cast<float>(value)) - scale.zero);
        return static_cast<double>(scale.scale);
    }

    Real clipped(Real x) const
    {
        if (!m_op.clip)
            return x;
        const auto limit = static_cast<Real>(*m_op.clip);
        return std::clamp(x, -limit, limit);
    }
    Real function(std::size_t which, Real x) const { return activated(m_functions[which], clipped(x)); }
    Real peephole(std::size_t which, std::size_t i, Real cell) const
    {
        return m_peepholes ? m_peepholes[which * m_hidden + i] * cell : Real(0);
    }

    /// Gru whose reset gate is in front of the product: that product anew, into the hidden gate's part of `fromState`.
    void multiplyReset(const std::vector<Real> &fromData, std::size_t k, std::vector<Real> &fromState) const
    {
        const std::size_t reset = m_order[1] * m_hidden;
        const std::size_t fresh = m_order[2] * m_hidden;
        std::vector<Real> kept(m_batch * m_outputs, Real(0));
        for (std::size_t n = 0; n < m_batch; ++n) {
            if (k >= m_lengths[n])
                continue;
            const Real *const x = fromData.data() + columnOf(n, k) * m_rows + reset;
            const Real *const h = fromState.data() + n * m_rows + reset;
            for (std::size_t i = 0; i < m_hidden; ++i)
                kept[n * m_outputs + i] = m_before[n * m_outputs + i] * function(0, x[i] + h[i]);
        }
        std::vector<Real> products(m_batch * m_hidden);
        multiply(m_recurrent, fresh, m_hidden, m_outputs, {kept.data(), m_batch}, m_recurrentBias,
                 products.data());
        for (std::size_t n = 0; n < m_batch; ++n)
            std::copy_n(products.data() + n * m_hidden, m_hidden, fromState.data() + n * m_rows + fresh);
    }

    /// One step of one sequence: x and h are the gates' sums from the data and from the state.
    void advance(const Real *x, const Real *h, std::size_t n, std::vector<Real> &given)
    {
        switch (m_op.cell) {
        case Recurrence::Cell::Plain:
            for (std::size_t i = 0; i < m_hidden; ++i)
                given[i] = function(0, x[i] + h[i]);
            break;
        case Recurrence::Cell::Gru:
            advanceGru(x, h, m_before.data() + n * m_outputs, given);
            break;
        case Recurrence::Cell::Lstm:
            advanceLstm(x, h, m_memory.data() + n * m_hidden, given);
            break;
        }
    }

    void advanceGru(const Real *x, const Real *h, const Real *before, std::vector<Real> &given) const
    {
        const std::size_t update = m_order[0] * m_hidden;
        const std::size_t reset = m_order[1] * m_hidden;
        const std::size_t fresh = m_order[2] * m_hidden;
        for (std::size_t i = 0; i < m_hidden; ++i) {
            const Real kept = function(0, x[update + i] + h[update + i]);
            const Real recurrent = m_op.linearBeforeReset
                ? function(0, x[reset + i] + h[reset + i]) * h[fresh + i]
                : h[fresh + i];
            given[i] = (Real(1) - kept) * function(1, x[fresh + i] + recurrent) + kept * before[i];
        }
    }

    void advanceLstm(const Real *x, const Real *h, Real *memory, std::vector<Real> &given) const
    {
        for (std::size_t i = 0; i < m_hidden; ++i) {
            const auto gate = [&](std::size_t which) {
                const std::size_t row = m_order[which] * m_hidden + i;
                return x[row] + h[row];
            };
            const Real input = function(0, gate(0) + peephole(0, i, memory[i]));
            const Real forget
                = m_op.couplesForget ? Real(1) - input : function(0, gate(1) + peephole(2, i, memory[i]));
            memory[i] = cut(forget * memory[i] + input * function(1, gate(3)));
            const Real output = function(0, gate(2) + peephole(1, i, memory[i]));
            given[i] = output * activated(m_functions[2], memory[i]);
        }
    }

    Real cut(Real x) const
    {
        if (!m_op.stack)
            return x;
        if (m_op.stack->cellMin && x < static_cast<Real>(*m_op.stack->cellMin))
            return static_cast<Real>(*m_op.stack->cellMin);
        if (m_op.stack->cellMax && x > static_cast<Real>(*m_op.stack->cellMax))
            return static_cast<Real>(*m_op.stack->cellMax);
        return m_op.stack->replacesNaN && std::isnan(x) ? Real(0) : x;
    }

    /// What the cell gives becomes the hidden state and the output of a step.
    void give(std::size_t n, std::size_t k, const std::vector<Real> &given)
    {
        Real *const state = m_state.data() + n * m_outputs;
        if (m_op.stack && m_op.stack->projectionSize) {
            const Real *const projection = m_arrays.in[1] + m_part.projection;
            for (std::size_t r = 0; r < m_outputs; ++r) {
                state[r] = 0;
                for (std::size_t i = 0; i < m_hidden; ++i)
                    state[r] += projection[r * m_hidden + i] * given[i];
            }
        } else {
            std::ranges::copy(given, state);
        }
        if (m_data.out)
            std::copy_n(state, m_outputs,
                        m_data.out + timeOf(n, k) * m_data.step + n * m_data.sequence
                            + m_which * m_data.direction);
    }

    void writeStates()
    {
        for (std::size_t n = 0; m_op.hasCodes && n < m_batch; ++n)
            if (m_lengths[n] == 0) {
                std::fill_n(m_state.data() + n * m_outputs, m_outputs, Real(0));
                std::fill_n(m_memory.data() + n * m_hidden, m_hidden, Real(0));
            }
        writeState(1, m_state, m_outputs);
        writeState(2, m_memory, m_hidden);
    }
    void writeState(std::size_t output, const std::vector<Real> &state, std::size_t size) const
    {
        if (output >= m_arrays.out.size() || !m_arrays.out[output])
            return;
        for (std::size_t n = 0; n < m_batch; ++n)
            std::copy_n(state.data() + n * size, size, m_arrays.out[output] + stateAt(n, size));
    }

    const Recurrence &m_op;
    const Arrays<Real> &m_arrays;
    std::size_t m_cell; ///< of all layers and directions
    std::size_t m_which; ///< direction
    const ops::RecurrentPart &m_part;
    const LayerData<Real> &m_data;
    std::array<std::size_t, 4> m_order;
    std::size_t m_hidden;
    std::size_t m_outputs;
    std::size_t m_rows;
    std::size_t m_steps;
    std::size_t m_batch;
    GateMatrix<Real> m_weights;
    GateMatrix<Real> m_recurrent;
    const Real *m_inputBias = nullptr;
    const Real *m_recurrentBias = nullptr;
    const Real *m_peepholes = nullptr;
    std::span<const Recurrence::Function> m_functions;
    std::vector<std::size_t> m_lengths;
    std::vector<Real> m_state; ///< (N, outputs)
    std::vector<Real> m_before; ///< what a step reads of it
    std::vector<Real> m_memory; ///< the cell state, (N, hidden)
};

/// The output of a layer: that of the operator, or `between` for the next layer of a stack.
template <class Real>
LayerData<Real> layerOutput(const Recurrence &op, const Arrays<Real> &arrays, std::vector<Real> *between)
{
    const auto steps = static_cast<std::size_t>(arrays.inDims(0)[op.batchFirst ? 1 : 0]);
    const auto batch = static_cast<std::size_t>(arrays.inDims(0)[op.batchFirst ? 0 : 1]);
    const auto outputs = static_cast<std::size_t>(op.outputSize());
    const std::size_t row = static_cast<std::size_t>(op.directions()) * outputs;
    LayerData<Real> data{.out = arrays.out[0]};
    if (between) {
        between->assign(steps * batch * row, Real(0));
        data.out = between->data();
    } else if (data.out) {
        std::fill_n(data.out, arrays.outCount(0), Real(0)); // beyond the sequences' ends
    }
    const bool isSideBySide = op.stack || op.batchFirst;
    data.step = op.batchFirst ? row : batch * row;
    data.sequence = op.batchFirst ? steps * row : op.stack ? row : outputs;
    data.direction = isSideBySide ? outputs : batch * outputs;
    return data;
}

} // namespace

template <class Real>
Result<void> compute(const ops::Recurrence &op, const Arrays<Real> &arrays)
{
    const auto directions = static_cast<std::size_t>(op.directions());
    const auto layers = static_cast<std::size_t>(op.layers());
    if (op.functions.size() != op.functionsEach() * directions)
        return badInput("activations", std::to_string(op.functions.size()) + " functions",
                        std::to_string(op.functionsEach() * directions));
    const std::vector<ops::RecurrentPart> parts
        = ops::recurrentParts(op, static_cast<std::size_t>(arrays.inDims(0)[2]));
    std::vector<Real> input;
    std::vector<Real> between;
    for (std::size_t layer = 0; layer < layers && !arrays.workers.stopped(); ++layer) {
        LayerData<Real> data = layerOutput(op, arrays, layer + 1 < layers ? &between : nullptr);
        data.in = layer == 0 ? arrays.in[0] : input.data();
        for (std::size_t cell = layer * directions; cell < (layer + 1) * directions; ++cell)
            Direction<Real>(op, arrays, cell, parts[cell], data).run();
        input.swap(between);
    }
    return {};
}

HALFTONE_BOTH(Recurrence)

} // namespace halftone::backends::reference
