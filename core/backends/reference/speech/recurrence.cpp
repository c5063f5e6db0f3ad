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
        , m_weights(arrays.in[1] + which * m_gates * m_hidden * m_features)
        , m_recurrent(arrays.in[2] + which * m_gates * m_hidden * m_hidden)
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
    }

    /// The whole sequence of one element of the batch.
    void run(std::size_t n, std::size_t batch, std::size_t steps) const
    {
        const auto directions = static_cast<std::size_t>(m_op.directions());
        const std::size_t state
            = (m_op.batchFirst ? n * directions + m_which : m_which * batch + n) * m_hidden;
        std::vector<Real> hidden(m_hidden, Real(0));
        std::vector<Real> cell(m_hidden, Real(0));
        if (m_firstHidden)
            std::copy_n(m_firstHidden + state, m_hidden, hidden.begin());
        if (m_firstCell)
            std::copy_n(m_firstCell + state, m_hidden, cell.begin());
        const std::size_t length = m_lengths
            ? static_cast<std::size_t>(std::clamp(m_lengths[n], Real(0), static_cast<Real>(steps)))
            : steps;
        const bool reverse = m_op.direction == Recurrence::Direction::Reverse || m_which == 1;
        Real *sequence = m_arrays.out[0];
        for (std::size_t k = 0; k < steps; ++k) {
            const std::size_t t = reverse && k < length ? length - 1 - k : k;
            if (k < length)
                step(m_arrays.in[0] + (m_op.batchFirst ? n * steps + t : t * batch + n) * m_features, hidden,
                     cell);
            if (!sequence)
                continue;
            const std::size_t at = m_op.batchFirst ? (n * steps + t) * directions + m_which
                                                   : (t * directions + m_which) * batch + n;
            for (std::size_t i = 0; i < m_hidden; ++i)
                sequence[at * m_hidden + i] = k < length ? hidden[i] : Real(0);
        }
        if (m_arrays.out.size() > 1 && m_arrays.out[1])
            std::ranges::copy(hidden, m_arrays.out[1] + state);
        if (m_arrays.out.size() > 2 && m_arrays.out[2])
            std::ranges::copy(cell, m_arrays.out[2] + state);
    }

private:
    Real clipped(Real x) const
    {
        if (!m_op.clip)
            return x;
        const auto limit = static_cast<Real>(*m_op.clip);
        return std::clamp(x, -limit, limit);
    }
    Real function(std::size_t which, Real x) const { return activated(m_functions[which], clipped(x)); }

    /// weights · x of one row; sums in double: the order of adding does not show.
    static double product(const Real *row, const Real *x, std::size_t length)
    {
        double sum = 0;
        for (std::size_t i = 0; i < length; ++i)
            sum += static_cast<double>(row[i]) * static_cast<double>(x[i]);
        return sum;
    }
    Real fromData(std::size_t row, const Real *x) const
    {
        return static_cast<Real>(product(m_weights + row * m_features, x, m_features)
                                 + (m_bias ? static_cast<double>(m_bias[row]) : 0.0));
    }
    Real fromHidden(std::size_t row, const std::vector<Real> &hidden) const
    {
        return static_cast<Real>(product(m_recurrent + row * m_hidden, hidden.data(), m_hidden)
                                 + (m_bias ? static_cast<double>(m_bias[m_gates * m_hidden + row]) : 0.0));
    }
    Real peephole(std::size_t which, std::size_t i, Real cell) const
    {
        return m_peepholes ? m_peepholes[which * m_hidden + i] * cell : Real(0);
    }

    void step(const Real *x, std::vector<Real> &hidden, std::vector<Real> &cell) const
    {
        const std::vector<Real> before = hidden;
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

    void stepGru(const Real *x, const std::vector<Real> &before, std::vector<Real> &hidden) const
    {
        std::vector<Real> reset(m_hidden);
        for (std::size_t i = 0; i < m_hidden; ++i)
            reset[i] = function(0, fromData(m_hidden + i, x) + fromHidden(m_hidden + i, before));
        std::vector<Real> kept = before;
        for (std::size_t i = 0; i < m_hidden; ++i)
            kept[i] *= reset[i];
        for (std::size_t i = 0; i < m_hidden; ++i) {
            const Real update = function(0, fromData(i, x) + fromHidden(i, before));
            const std::size_t row = 2 * m_hidden + i;
            const Real recurrent
                = m_op.linearBeforeReset ? reset[i] * fromHidden(row, before) : fromHidden(row, kept);
            const Real fresh = function(1, fromData(row, x) + recurrent);
            hidden[i] = (Real(1) - update) * fresh + update * before[i];
        }
    }

    void stepLstm(const Real *x, const std::vector<Real> &before, std::size_t i, std::vector<Real> &hidden,
                  std::vector<Real> &cell) const
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
    const Real *m_weights;
    const Real *m_recurrent;
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
    const std::size_t cost = steps * (arrays.inCount(1) + arrays.inCount(2)) / directions + 1;
    arrays.workers.share(directions * batch, cost, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            Direction<Real>(op, arrays, i / batch).run(i % batch, batch, steps);
    });
    return {};
}

HALFTONE_BOTH(Recurrence)

} // namespace halftone::backends::reference
