#include "core/backends/reference/dynamic_codes.h"
#include "core/backends/reference/kernels.h"
#include "core/backends/reference/matrix.h"

#include <algorithm>
#include <cmath>
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

/// A matrix of a direction, gate after gate; what one of each row stands for where it holds codes.
template <class Real>
struct GateMatrix
{
    const Real *rows = nullptr;
    std::vector<Real> own; ///< codes less their zero points
    std::vector<double> scales;

    double scaleOf(std::size_t row) const { return scales.empty() ? 1.0 : scales[row]; }
};

/// What goes into a product: values, or codes less their zero point and what one of them stands for.
template <class Real>
struct ProductFactor
{
    const Real *values = nullptr;
    double scale = 1;
};

/// The state of a sequence.
template <class Real>
struct SequenceState
{
    std::size_t place = 0; ///< in the batch
    std::size_t length = 0;
    std::vector<Real> hidden;
    std::vector<Real> cell;
    std::vector<Real> before{}; ///< what the step reads of the hidden state
};

/// One direction of a layer. Matrices are as the operator has them, rows are gates.
template <class Real>
class Direction
{
public:
    Direction(const Recurrence &op, const Arrays<Real> &arrays, std::size_t which)
        : m_op(op)
        , m_arrays(arrays)
        , m_hidden(static_cast<std::size_t>(op.hiddenSize))
        , m_features(static_cast<std::size_t>(arrays.inDims(0)[2]))
        , m_gates(static_cast<std::size_t>(op.gates()))
        , m_which(which)
        , m_steps(static_cast<std::size_t>(arrays.inDims(0)[op.batchFirst ? 1 : 0]))
        , m_batch(static_cast<std::size_t>(arrays.inDims(0)[op.batchFirst ? 0 : 1]))
        , m_weights(matrix(1, m_features))
        , m_recurrent(matrix(2, m_hidden))
        , m_data(arrays.in[0])
    {
        std::size_t next = 3;
        const auto take = [&](bool isThere) { return isThere ? arrays.in[next++] : nullptr; };
        const Real *bias = take(op.hasBias);
        m_bias = bias ? bias + which * 2 * m_gates * m_hidden : nullptr;
        m_lengths = take(op.hasLengths);
        m_firstHidden = take(op.hasHidden);
        m_firstCell = take(op.hasCell);
        const Real *peepholes = take(op.hasPeepholes);
        m_peepholes = peepholes ? peepholes + which * 3 * m_hidden : nullptr;
        const std::size_t functions = op.functions.size() / static_cast<std::size_t>(op.directions());
        m_functions = std::span(op.functions).subspan(which * functions, functions);
        if (op.hasCodes)
            codeData();
    }

    /// The whole sequences of some elements of the batch, which codes of states must be all of.
    void run(std::size_t begin, std::size_t end)
    {
        std::vector<SequenceState<Real>> sequences;
        for (std::size_t n = begin; n < end; ++n)
            sequences.push_back(firstState(n));
        for (std::size_t k = 0; k < m_steps; ++k) {
            const double scale = m_op.hasCodes ? codeStates(sequences, k) : 1.0;
            for (SequenceState<Real> &sequence : sequences) {
                if (!m_op.hasCodes)
                    sequence.before = sequence.hidden;
                if (k < sequence.length)
                    step({m_data + dataAt(sequence, k), m_dataScale}, {sequence.before.data(), scale},
                         sequence.hidden, sequence.cell);
                writeStep(sequence, k);
            }
        }
        for (SequenceState<Real> &sequence : sequences)
            writeStates(sequence);
    }

private:
    GateMatrix<Real> matrix(std::size_t input, std::size_t depth) const
    {
        const std::size_t rows = m_gates * m_hidden;
        GateMatrix<Real> made;
        made.rows = m_arrays.in[input] + m_which * rows * depth;
        if (!m_op.hasCodes)
            return made;
        const std::size_t scaleInput = m_op.scalesInput() + 2 * (input - 1);
        const auto ofRow = [&](std::size_t of, std::size_t row) {
            const bool isOne = m_arrays.inDims(of).size() == 1;
            return m_arrays.in[of][isOne ? m_which : m_which * rows + row];
        };
        for (std::size_t row = 0; row < rows; ++row) {
            made.scales.push_back(static_cast<double>(ofRow(scaleInput, row)));
            for (std::size_t k = 0; k < depth; ++k)
                made.own.push_back(made.rows[k * rows + row] - ofRow(scaleInput + 1, row));
        }
        made.rows = made.own.data();
        return made;
    }

    std::size_t lengthOf(std::size_t n) const
    {
        return m_lengths
            ? static_cast<std::size_t>(std::clamp(m_lengths[n], Real(0), static_cast<Real>(m_steps)))
            : m_steps;
    }

    /// The data as codes, of all steps that any sequence has.
    void codeData()
    {
        std::size_t longest = 0;
        for (std::size_t n = 0; n < m_batch; ++n)
            longest = std::max(longest, lengthOf(n));
        const std::size_t count = longest * m_batch * m_features;
        float low = 0;
        float high = 0;
        for (std::size_t i = 0; i < count; ++i) {
            low = std::min(low, static_cast<float>(m_data[i]));
            high = std::max(high, static_cast<float>(m_data[i]));
        }
        const DynamicScale scale = dynamicScale(low, high);
        for (std::size_t i = 0; i < count; ++i)
            m_codes.push_back(static_cast<Real>(scale.codeOf(static_cast<float>(m_data[i])) - scale.zero));
        m_data = m_codes.data();
        m_dataScale = static_cast<double>(scale.scale);
    }

    /// The states before a step as codes, those of sequences that ended with the step before too; what one of them stands for.
    double codeStates(std::vector<SequenceState<Real>> &sequences, std::size_t k) const
    {
        float low = 0;
        float high = 0;
        for (const SequenceState<Real> &sequence : sequences)
            for (std::size_t i = 0; i < m_hidden && k <= sequence.length; ++i) {
                low = std::min(low, static_cast<float>(sequence.hidden[i]));
                high = std::max(high, static_cast<float>(sequence.hidden[i]));
            }
        const DynamicScale scale = dynamicScale(low, high);
        for (SequenceState<Real> &sequence : sequences) {
            sequence.before.resize(m_hidden);
            for (std::size_t i = 0; i < m_hidden; ++i)
                sequence.before[i]
                    = static_cast<Real>(scale.codeOf(static_cast<float>(sequence.hidden[i])) - scale.zero);
        }
        return static_cast<double>(scale.scale);
    }

    std::size_t stateAt(std::size_t n) const
    {
        const auto directions = static_cast<std::size_t>(m_op.directions());
        return (m_op.batchFirst ? n * directions + m_which : m_which * m_batch + n) * m_hidden;
    }

    SequenceState<Real> firstState(std::size_t n) const
    {
        SequenceState<Real> sequence{n, lengthOf(n), std::vector<Real>(m_hidden, Real(0)),
                                     std::vector<Real>(m_hidden, Real(0))};
        if (m_firstHidden)
            std::copy_n(m_firstHidden + stateAt(n), m_hidden, sequence.hidden.begin());
        if (m_firstCell)
            std::copy_n(m_firstCell + stateAt(n), m_hidden, sequence.cell.begin());
        return sequence;
    }

    std::size_t timeOf(const SequenceState<Real> &sequence, std::size_t k) const
    {
        const bool reverse = m_op.direction == Recurrence::Direction::Reverse || m_which == 1;
        return reverse && k < sequence.length ? sequence.length - 1 - k : k;
    }
    std::size_t dataAt(const SequenceState<Real> &sequence, std::size_t k) const
    {
        const std::size_t t = timeOf(sequence, k);
        return (m_op.batchFirst ? sequence.place * m_steps + t : t * m_batch + sequence.place) * m_features;
    }

    void writeStep(const SequenceState<Real> &sequence, std::size_t k) const
    {
        if (!m_arrays.out[0])
            return;
        const auto directions = static_cast<std::size_t>(m_op.directions());
        const std::size_t t = timeOf(sequence, k);
        const std::size_t at = m_op.batchFirst ? (sequence.place * m_steps + t) * directions + m_which
                                               : (t * directions + m_which) * m_batch + sequence.place;
        for (std::size_t i = 0; i < m_hidden; ++i)
            m_arrays.out[0][at * m_hidden + i] = k < sequence.length ? sequence.hidden[i] : Real(0);
    }

    void writeStates(SequenceState<Real> &sequence) const
    {
        if (m_op.hasCodes && sequence.length == 0) {
            std::ranges::fill(sequence.hidden, Real(0));
            std::ranges::fill(sequence.cell, Real(0));
        }
        if (m_arrays.out.size() > 1 && m_arrays.out[1])
            std::ranges::copy(sequence.hidden, m_arrays.out[1] + stateAt(sequence.place));
        if (m_arrays.out.size() > 2 && m_arrays.out[2])
            std::ranges::copy(sequence.cell, m_arrays.out[2] + stateAt(sequence.place));
    }

    Real clipped(Real x) const
    {
        if (!m_op.clip)
            return x;
        const auto limit = static_cast<Real>(*m_op.clip);
        return std::clamp(x, -limit, limit);
    }
    Real function(std::size_t which, Real x) const { return activated(m_functions[which], clipped(x)); }

    /// One row of a matrix times what goes in; sums in double: the order of adding does not show.
    static double product(const GateMatrix<Real> &matrix, std::size_t row, const ProductFactor<Real> &factor,
                          std::size_t length)
    {
        double sum = 0;
        for (std::size_t i = 0; i < length; ++i)
            sum += static_cast<double>(matrix.rows[row * length + i]) * static_cast<double>(factor.values[i]);
        return sum * (matrix.scaleOf(row) * factor.scale);
    }
    Real fromData(std::size_t row, const ProductFactor<Real> &x) const
    {
        return static_cast<Real>(product(m_weights, row, x, m_features)
                                 + (m_bias ? static_cast<double>(m_bias[row]) : 0.0));
    }
    Real fromHidden(std::size_t row, const ProductFactor<Real> &hidden) const
    {
        return static_cast<Real>(product(m_recurrent, row, hidden, m_hidden)
                                 + (m_bias ? static_cast<double>(m_bias[m_gates * m_hidden + row]) : 0.0));
    }
    Real peephole(std::size_t which, std::size_t i, Real cell) const
    {
        return m_peepholes ? m_peepholes[which * m_hidden + i] * cell : Real(0);
    }

    void step(const ProductFactor<Real> &x, const ProductFactor<Real> &before, std::vector<Real> &hidden,
              std::vector<Real> &cell) const
    {
        switch (m_op.cell) {
        case Recurrence::Cell::Plain:
            for (std::size_t i = 0; i < m_hidden; ++i)
                hidden[i] = function(0, fromData(i, x) + fromHidden(i, before));
            break;
        case Recurrence::Cell::Gru:
            stepGru(x, before, hidden);
            break;
        case Recurrence::Cell::Lstm:
            for (std::size_t i = 0; i < m_hidden; ++i)
                stepLstm(x, before, i, hidden, cell);
            break;
        }
    }

    void stepGru(const ProductFactor<Real> &x, const ProductFactor<Real> &before,
                 std::vector<Real> &hidden) const
    {
        std::vector<Real> reset(m_hidden);
        for (std::size_t i = 0; i < m_hidden; ++i)
            reset[i] = function(0, fromData(m_hidden + i, x) + fromHidden(m_hidden + i, before));
        std::vector<Real> kept(before.values, before.values + m_hidden);
        for (std::size_t i = 0; i < m_hidden; ++i)
            kept[i] *= reset[i];
        for (std::size_t i = 0; i < m_hidden; ++i) {
            const Real update = function(0, fromData(i, x) + fromHidden(i, before));
            const std::size_t row = 2 * m_hidden + i;
            const Real recurrent = m_op.linearBeforeReset ? reset[i] * fromHidden(row, before)
                                                          : fromHidden(row, {kept.data()});
            const Real fresh = function(1, fromData(row, x) + recurrent);
            hidden[i] = (Real(1) - update) * fresh + update * before.values[i];
        }
    }

    void stepLstm(const ProductFactor<Real> &x, const ProductFactor<Real> &before, std::size_t i,
                  std::vector<Real> &hidden, std::vector<Real> &cell) const
    {
        const auto gate = [&](std::size_t g) {
            return fromData(g * m_hidden + i, x) + fromHidden(g * m_hidden + i, before);
        };
        const Real input = function(0, gate(0) + peephole(0, i, cell[i]));
        const Real forget
            = m_op.couplesForget ? Real(1) - input : function(0, gate(2) + peephole(2, i, cell[i]));
        cell[i] = forget * cell[i] + input * function(1, gate(3));
        const Real output = function(0, gate(1) + peephole(1, i, cell[i]));
        hidden[i] = output * activated(m_functions[2], cell[i]);
    }

    const Recurrence &m_op;
    const Arrays<Real> &m_arrays;
    std::size_t m_hidden;
    std::size_t m_features;
    std::size_t m_gates;
    std::size_t m_which;
    std::size_t m_steps;
    std::size_t m_batch;
    GateMatrix<Real> m_weights;
    GateMatrix<Real> m_recurrent;
    const Real *m_data;
    std::vector<Real> m_codes; ///< of the data, less their zero point
    double m_dataScale = 1;
    const Real *m_bias = nullptr;
    const Real *m_lengths = nullptr;
    const Real *m_firstHidden = nullptr;
    const Real *m_firstCell = nullptr;
    const Real *m_peepholes = nullptr;
    std::span<const Recurrence::Function> m_functions;
};

} // namespace

template <class Real>
Result<void> compute(const ops::Recurrence &op, const Arrays<Real> &arrays)
{
    const DimSpan data = arrays.inDims(0);
    const auto steps = static_cast<std::size_t>(data[op.batchFirst ? 1 : 0]);
    const auto batch = static_cast<std::size_t>(data[op.batchFirst ? 0 : 1]);
    const auto directions = static_cast<std::size_t>(op.directions());
    const std::size_t needed = op.cell == Recurrence::Cell::Lstm ? 3
        : op.cell == Recurrence::Cell::Gru                       ? 2
                                                                 : 1;
    if (op.functions.size() != needed * directions)
        return badInput("activations", std::to_string(op.functions.size()) + " functions",
                        std::to_string(needed * directions));
    const std::size_t together = op.hasCodes ? batch : 1; // sequences
    const std::size_t shares = together == 0 ? 0 : batch / together; // of a direction
    const std::size_t cost = together * steps * (arrays.inCount(1) + arrays.inCount(2)) / directions + 1;
    arrays.workers.share(directions * shares, cost, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t first = i % shares * together;
            Direction<Real>(op, arrays, i / shares).run(first, first + together);
        }
    });
    return {};
}

HALFTONE_BOTH(Recurrence)

} // namespace halftone::backends::reference
