#include "core/backends/onednn/loops/recurrence.h"

#include "core/backends/onednn/dnnl_common.h"
#include "core/backends/onednn/loops/recurrent_codes.h"
#include "core/backends/onednn/loops/recurrent_loops.h"
#include "core/backends/onednn/scratch.h"
#include "core/base/memory.h"
#include "core/kernels/buffer.h"
#include "core/tensor/elements.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <span>
#include <stop_token>
#include <utility>

namespace halftone::backends::onednn {
namespace {

using ops::Recurrence;
using tensor::DType;

constexpr std::size_t kSumBytes = std::size_t{512}
    << 10; ///< of gates computed ahead, which stay in the second cache
constexpr std::size_t kFewestRowsAhead = 24; ///< so that weights are not read for a few rows only

std::size_t paddedState(const RecurrentLayers &layers)
{
    return (layers.hidden + kRecurrentLanes - 1) / kRecurrentLanes * kRecurrentLanes;
}

WeightType weightTypeOf(DType type)
{
    return type == DType::BF16 ? WeightType::Bf16 : WeightType::F32;
}

std::size_t weightBytes(const RecurrentLayers &layers)
{
    return layers.type == DType::BF16 ? 2 : 4;
}

/// The matrix of a part as one packed matrix, or as two: Gru's last gate waits for the one before.
struct GateGroups
{
    std::size_t first = 0; ///< gates
    std::size_t second = 0;
};

GateGroups gateGroupsOf(const RecurrentLayers &layers, RecurrentMatrix which)
{
    const bool isSplit = layers.cell == Recurrence::Cell::Gru && which == RecurrentMatrix::Recurrent;
    return isSplit ? GateGroups{2, 1} : GateGroups{layers.gates(), 0};
}

std::size_t depthOf(const RecurrentLayers &layers, const RecurrentPart &part, RecurrentMatrix which)
{
    return which == RecurrentMatrix::Weights ? part.features : layers.hidden;
}

/// A part's matrix of codes, among all `codes`.
GateColumns codedPart(const RecurrentLayers &layers, const RecurrentPart &part, RecurrentMatrix which,
                      const std::byte *codes)
{
    const std::size_t first = which == RecurrentMatrix::Weights ? part.weights : part.recurrent;
    return {codes == nullptr ? nullptr : codes + first,
            layers.codes->areSigned,
            layers.gates() * layers.hidden,
            layers.hidden,
            depthOf(layers, part, which),
            layers.gateOrder.data(),
            layers.gates()};
}

/// Bytes of a part's packed matrix.
std::size_t packedPart(const RecurrentLayers &layers, const RecurrentPart &part, RecurrentMatrix which)
{
    if (layers.codes)
        return packedCodeBytes(codedPart(layers, part, which, nullptr));
    return layers.gates() * paddedState(layers) * depthOf(layers, part, which) * weightBytes(layers);
}

std::size_t packedBytes(const RecurrentLayers &layers, RecurrentMatrix which)
{
    std::size_t bytes = 0;
    for (const RecurrentPart &part : layers.parts)
        bytes += packedPart(layers, part, which);
    return bytes;
}

void packCodedParts(const RecurrentLayers &layers, RecurrentMatrix which, const std::byte *codes,
                    std::byte *to)
{
    for (const RecurrentPart &part : layers.parts) {
        packCodes(codedPart(layers, part, which, codes), to);
        to += packedPart(layers, part, which);
    }
}

/// elements  of the operator's input, in its type
void packParts(const RecurrentLayers &layers, RecurrentMatrix which, const std::byte *elements, std::byte *to)
{
    if (layers.codes)
        return packCodedParts(layers, which, elements, to);
    const std::size_t width = tensor::sizeOf(layers.type);
    const bool widens = layers.type == DType::F16;
    std::vector<float> wide;
    for (const RecurrentPart &part : layers.parts) {
        const std::size_t depth = depthOf(layers, part, which);
        const std::byte *at
            = elements + width * (which == RecurrentMatrix::Weights ? part.weights : part.recurrent);
        if (widens) {
            wide.resize(layers.gates() * layers.hidden * depth);
            tensor::widen(layers.type, at, wide.size(), wide.data());
            at = reinterpret_cast<const std::byte *>(wide.data());
        }
        const GateGroups groups = gateGroupsOf(layers, which);
        const std::size_t *gates = layers.gateOrder.data();
        for (const std::size_t count : {groups.first, groups.second}) {
            const GateRows rows{at, layers.hidden, depth, gates, count};
            packRecurrent(rows, weightTypeOf(layers.type), to);
            to += packedCount(rows) * weightBytes(layers);
            gates += count;
        }
    }
}

/// What a thread works with while it computes one direction of a layer for some sequences. All float32, whole vectors.
struct WalkRoom
{
    float *start = nullptr; ///< what the gates' sums begin with
    float *lateStart = nullptr; ///< the same of Gru's last gate, where that is multiplied by the reset gate
    float *peepholes = nullptr; ///< of input, output and forget gate
    float *hidden = nullptr; ///< of each sequence
    float *cell = nullptr;
    float *late
        = nullptr; ///< of each sequence: what Gru's last gate gets of the state, or the function of Lstm's cell
    float *kept = nullptr; ///< of each sequence: Gru's state times the reset gate
    float *scales = nullptr; ///< of the columns of both matrices of codes
    float *zeros = nullptr; ///< likewise, as integers
    float *sums = nullptr; ///< of the steps ahead, row by row
    float *data = nullptr; ///< of the steps ahead, where it is not float32
    float *codes = nullptr; ///< of the steps ahead, or of the states
};

/// Lays pieces of memory one behind the other; without memory it only counts.
class RoomPieces
{
public:
    explicit RoomPieces(std::byte *at)
        : m_at(at)
    {
    }

    float *take(std::size_t count)
    {
        constexpr std::size_t kLine = 64;
        auto *const piece = m_at == nullptr ? nullptr : reinterpret_cast<float *>(m_at + m_bytes);
        m_bytes += (count * sizeof(float) + kLine - 1) / kLine * kLine;
        return piece;
    }
    std::size_t bytes() const { return m_bytes; }

private:
    std::byte *m_at;
    std::size_t m_bytes = 0;
};

/// What a layer reads and writes.
struct LayerTensors
{
    const std::byte *data = nullptr;
    DType dataType = DType::F32;
    RecurrentStrides from;
    std::byte *result = nullptr; ///< null: nobody reads it
    DType resultType = DType::F32;
    RecurrentStrides to;
    std::size_t index = 0; ///< of the layer
};

using InputBytes = std::span<const std::byte *const>;
using OutputBytes = std::span<std::byte *const>;

/// One direction of a layer, for some sequences of the batch.
class RecurrentWalk
{
public:
    RecurrentWalk(const RecurrentLayers &layers, const LayerTensors &layer, InputBytes inputs,
                  OutputBytes outputs, std::size_t direction, const std::stop_token &stop)
        : m_layers(layers)
        , m_layer(layer)
        , m_inputs(inputs)
        , m_outputs(outputs)
        , m_direction(direction)
        , m_at(layer.index * layers.directions() + direction)
        , m_part(layers.parts[m_at])
        , m_size(paddedState(layers))
        , m_columns(layers.gates() * m_size)
        , m_isReverse(layers.direction == Recurrence::Direction::Reverse || direction == 1)
        , m_isLate(layers.cell == Recurrence::Cell::Gru && layers.linearBeforeReset)
        , m_stop(stop)
    {
        const std::size_t each = layers.functions.size() / layers.directions();
        m_functions = std::span(layers.functions).subspan(direction * each, each);
    }

    /// Steps whose sums are computed together, of so many sequences.
    std::size_t stepsAhead(std::size_t sequences) const
    {
        const std::size_t fitting = kSumBytes / (m_columns * sizeof(float));
        const std::size_t rows = std::max(fitting, kFewestRowsAhead);
        return std::clamp<std::size_t>(rows / std::max<std::size_t>(sequences, 1), 1,
                                       std::max<std::size_t>(m_layers.steps, 1));
    }

    std::size_t roomFor(std::size_t sequences) const
    {
        RoomPieces pieces(nullptr);
        lay(pieces, sequences);
        return pieces.bytes();
    }

    /// weights, recurrent  packed, of all parts
    void run(const std::byte *weights, const std::byte *recurrent, std::size_t begin, std::size_t end,
             std::byte *memory)
    {
        for (std::size_t part = 0; part < m_at; ++part) {
            const RecurrentPart &before = m_layers.parts[part];
            weights += packedPart(m_layers, before, RecurrentMatrix::Weights);
            recurrent += packedPart(m_layers, before, RecurrentMatrix::Recurrent);
        }
        m_weights = weights;
        m_recurrent = recurrent;
        m_begin = begin;
        m_count = end - begin;
        RoomPieces pieces(memory);
        m_room = lay(pieces, m_count);
        std::fill(m_room.start, m_room.sums, 0.0F); // what lies beyond the states' sizes is a number
        readParameters();
        readStates();
        readLengths();
        if (m_layers.codes)
            beginCodes();
        const std::size_t ahead = stepsAhead(m_count);
        for (std::size_t first = 0; first < m_layers.steps && !m_stop.stop_requested(); first += ahead) {
            const std::size_t steps = std::min(ahead, m_layers.steps - first);
            multiplyData(first, steps);
            for (std::size_t k = first; k < first + steps && !m_stop.stop_requested(); ++k)
                step(k, m_room.sums + (k - first) * m_count * m_columns);
        }
        writeStates();
    }

private:
    WalkRoom lay(RoomPieces &pieces, std::size_t sequences) const
    {
        const std::size_t states = sequences * m_size;
        const std::size_t rows = stepsAhead(sequences) * sequences;
        WalkRoom room;
        room.start = pieces.take(m_columns);
        room.lateStart = pieces.take(m_size);
        room.peepholes = pieces.take(3 * m_size);
        room.hidden = pieces.take(states);
        room.cell = pieces.take(states);
        room.late = pieces.take(states);
        room.kept = pieces.take(states);
        const std::size_t coded = m_layers.codes ? 2 * m_columns : 0;
        room.scales = pieces.take(coded);
        room.zeros = pieces.take(coded);
        room.sums = pieces.take(rows * m_columns); // from here on all is written before it is read
        room.data = pieces.take(m_layer.dataType == DType::F32 ? 0 : rows * m_part.features);
        if (m_layers.codes)
            room.codes = pieces.take(
                std::max(rows * codedRow(m_part.features), sequences * codedRow(m_layers.hidden))
                / sizeof(float));
        return room;
    }

    /// Bytes of a row of codes.
    static std::size_t codedRow(std::size_t depth)
    {
        return (depth + kRecurrentLanes - 1) / kRecurrentLanes * kRecurrentLanes;
    }

    /// A matrix of this part with what its columns stand for, for which there is room at `scales` and `zeros`.
    CodeMatrix codeMatrix(const std::byte *packed, std::size_t depth, const RecurrentScales &of,
                          float *scales, std::int32_t *zeros) const
    {
        const std::size_t size = m_layers.hidden;
        const std::byte *const zeroCodes = m_inputs[of.zeros] + m_at * of.zerosEach;
        for (std::size_t gate = 0; gate < m_layers.gates(); ++gate) {
            const std::size_t first = m_layers.gateOrder[gate] * size;
            float *const to = scales + gate * m_size;
            read(of.scales, m_at * of.scalesEach + (of.scalesEach == 1 ? 0 : first),
                 of.scalesEach == 1 ? 1 : size, to);
            if (of.scalesEach == 1)
                std::fill_n(to + 1, size - 1, to[0]);
            for (std::size_t i = 0; i < size; ++i) {
                const std::byte zero = zeroCodes[of.zerosEach == 1 ? 0 : first + i];
                zeros[gate * m_size + i] = m_layers.codes->areSigned
                    ? static_cast<std::int8_t>(zero)
                    : static_cast<std::uint8_t>(zero) - 128; // as the codes are packed
            }
        }
        return {packed, depth, m_columns, scales, zeros};
    }

    /// Needs: lengths. The data's scale is that of all steps which any sequence has.
    void beginCodes()
    {
        auto *const zeros = reinterpret_cast<std::int32_t *>(m_room.zeros);
        m_codedWeights
            = codeMatrix(m_weights, m_part.features, m_layers.codes->weights, m_room.scales, zeros);
        m_codedRecurrent = codeMatrix(m_recurrent, m_layers.hidden, m_layers.codes->recurrent,
                                      m_room.scales + m_columns, zeros + m_columns);
        const std::size_t longest = m_lengths.empty() ? 0 : std::ranges::max(m_lengths);
        float low = 0;
        float high = 0;
        for (std::size_t t = 0; t < longest; ++t)
            for (std::size_t n = 0; n < m_count; ++n)
                widenRange(dataAt(t, n), m_part.features, low, high);
        m_dataCode = dynamicCode(low, high);
    }

    /// The values of a sequence at a time; needs: data in float32.
    const float *dataAt(std::size_t time, std::size_t n) const
    {
        return reinterpret_cast<const float *>(m_layer.data) + time * m_layer.from.step
            + (m_begin + n) * m_layer.from.sequence;
    }

    /// sums of m_sums = start + m_rows, as codes · matrix
    void multiplyAsCodes(const CodeMatrix &matrix, const DynamicCode &code, const float *start)
    {
        const std::size_t stride = codedRow(matrix.depth);
        auto *const codes = reinterpret_cast<std::uint8_t *>(m_room.codes);
        m_codeSums.clear();
        for (std::size_t r = 0; r < m_rows.size(); ++r)
            m_codeSums.push_back(codeValues(m_rows[r], matrix.depth, code, codes + r * stride));
        multiplyCodes(matrix, {codes, stride, m_codeSums.data(), m_sums.data(), m_rows.size(), code, start});
    }

    /// The scale of the states before step k: of sequences that ended with the step before, too.
    DynamicCode stateCode(std::size_t k) const
    {
        float low = 0;
        float high = 0;
        for (std::size_t n = 0; n < m_count; ++n)
            if (k <= m_lengths[n])
                widenRange(m_room.hidden + n * m_size, m_layers.hidden, low, high);
        return dynamicCode(low, high);
    }

    /// Elements of an input in the operator's type.
    void read(std::size_t input, std::size_t first, std::size_t count, float *to) const
    {
        tensor::widen(m_layers.type, m_inputs[input] + first * tensor::sizeOf(m_layers.type), count, to);
    }

    void readParameters()
    {
        const std::size_t size = m_layers.hidden;
        if (m_layers.peepholes)
            for (std::size_t k = 0; k < 3; ++k)
                read(*m_layers.peepholes, (3 * m_direction + k) * size, size, m_room.peepholes + k * m_size);
        if (!m_layers.biases)
            return;
        for (std::size_t gate = 0; gate < m_layers.gates(); ++gate) {
            const std::size_t first = m_layers.gateOrder[gate] * size;
            float *const start = m_room.start + gate * m_size;
            read(*m_layers.biases, m_part.inputBias + first, size, start);
            const bool isLate = m_isLate && gate == 2;
            read(*m_layers.biases, m_part.recurrentBias + first, size, m_room.lateStart);
            for (std::size_t i = 0; i < size && !isLate; ++i)
                start[i] += m_room.lateStart[i];
        }
        if (!m_isLate)
            std::fill_n(m_room.lateStart, m_size, 0.0F);
    }

    std::size_t stateAt(std::size_t n) const
    {
        return (m_begin + n) * m_layers.state.sequence + m_at * m_layers.state.direction;
    }

    void readStates()
    {
        for (std::size_t n = 0; n < m_count; ++n) {
            if (m_layers.firstHidden)
                read(*m_layers.firstHidden, stateAt(n), m_layers.hidden, m_room.hidden + n * m_size);
            if (m_layers.firstCell)
                read(*m_layers.firstCell, stateAt(n), m_layers.hidden, m_room.cell + n * m_size);
        }
    }

    void readLengths()
    {
        m_lengths.assign(m_count, m_layers.steps);
        if (!m_layers.lengths)
            return;
        const auto all
            = tensor::integers(m_layers.lengthsType, m_inputs[*m_layers.lengths], m_begin + m_count);
        for (std::size_t n = 0; n < m_count; ++n)
            m_lengths[n] = std::min(static_cast<std::size_t>(std::max<std::int64_t>(all[m_begin + n], 0)),
                                    m_layers.steps);
    }

    /// The place in time of a sequence's step k.
    std::size_t timeOf(std::size_t n, std::size_t k) const
    {
        return m_isReverse && k < m_lengths[n] ? m_lengths[n] - 1 - k : k;
    }

    /// The gates' sums over the data of all sequences that have the steps.
    void multiplyData(std::size_t first, std::size_t steps)
    {
        m_rows.clear();
        m_sums.clear();
        for (std::size_t k = first; k < first + steps; ++k)
            for (std::size_t n = 0; n < m_count; ++n) {
                if (k >= m_lengths[n])
                    continue;
                const std::size_t at
                    = timeOf(n, k) * m_layer.from.step + (m_begin + n) * m_layer.from.sequence;
                const std::byte *const row = m_layer.data + at * tensor::sizeOf(m_layer.dataType);
                if (m_layer.dataType == DType::F32) {
                    m_rows.push_back(reinterpret_cast<const float *>(row));
                } else {
                    float *const wide = m_room.data + m_rows.size() * m_part.features;
                    tensor::widen(m_layer.dataType, row, m_part.features, wide);
                    m_rows.push_back(wide);
                }
                m_sums.push_back(m_room.sums + ((k - first) * m_count + n) * m_columns);
            }
        if (m_layers.codes)
            multiplyAsCodes(m_codedWeights, m_dataCode, m_room.start);
        else
            multiply(m_weights, m_part.features, m_columns, m_room.start);
    }

    /// sums of m_sums = start + m_rows · matrix
    void multiply(const std::byte *matrix, std::size_t depth, std::size_t columns, const float *start) const
    {
        multiplyRows({m_rows.data(), m_sums.data(), m_rows.size(), depth, matrix, weightTypeOf(m_layers.type),
                      columns, start});
    }

    /// rows  of the sequences' gates
    void step(std::size_t k, float *rows)
    {
        m_active.clear();
        for (std::size_t n = 0; n < m_count; ++n)
            if (k < m_lengths[n])
                m_active.push_back(n);
        choose(m_room.hidden, m_size, rows, m_columns);
        const std::size_t early = m_layers.cell == Recurrence::Cell::Gru ? 2 * m_size : m_columns;
        if (m_layers.codes)
            multiplyAsCodes(m_codedRecurrent, stateCode(k), nullptr);
        else
            multiply(m_recurrent, m_layers.hidden, early, nullptr);
        switch (m_layers.cell) {
        case Recurrence::Cell::Plain:
            for (const std::size_t n : m_active) {
                apply(0, rows + n * m_columns, m_size);
                std::copy_n(rows + n * m_columns, m_size, m_room.hidden + n * m_size);
            }
            break;
        case Recurrence::Cell::Gru:
            stepGru(rows);
            break;
        case Recurrence::Cell::Lstm:
            for (const std::size_t n : m_active)
                stepLstm(rows + n * m_columns, m_room.hidden + n * m_size, m_room.cell + n * m_size,
                         m_room.late + n * m_size);
            break;
        }
        writeSteps(k);
    }

    /// The active sequences' places for the next product.
    void choose(const float *from, std::size_t stride, float *to, std::size_t toStride)
    {
        m_rows.clear();
        m_sums.clear();
        for (const std::size_t n : m_active) {
            m_rows.push_back(from + n * stride);
            m_sums.push_back(to + n * toStride);
        }
    }

    void apply(std::size_t which, float *values, std::size_t count) const
    {
        applyFunction(m_functions[which], m_layers.limit, values, count);
    }

    void stepLstm(float *gates, float *hidden, float *cell, float *shown) const
    {
        float *const input = gates;
        float *const forget = gates + m_size;
        float *const output = gates + 2 * m_size;
        float *const fresh = gates + 3 * m_size;
        if (m_layers.peepholes) {
            addProducts(m_room.peepholes, cell, input, m_size);
            addProducts(m_room.peepholes + 2 * m_size, cell, forget, m_size);
        }
        apply(0, input, (m_layers.peepholes ? 2 : 3) * m_size);
        apply(1, fresh, m_size);
        renewCell(input, m_layers.couplesForget ? nullptr : forget, fresh, cell, m_size);
        if (m_layers.peepholes) {
            addProducts(m_room.peepholes + m_size, cell, output, m_size);
            apply(0, output, m_size);
        }
        std::copy_n(cell, m_size, shown);
        applyFunction(m_functions[2], std::numeric_limits<float>::infinity(), shown, m_size);
        multiplyEach(output, shown, hidden, m_size);
    }

    void stepGru(float *rows)
    {
        const std::byte *const matrix = m_recurrent + 2 * m_size * m_layers.hidden * weightBytes(m_layers);
        if (m_isLate) {
            choose(m_room.hidden, m_size, m_room.late, m_size);
            multiply(matrix, m_layers.hidden, m_size, m_room.lateStart);
        }
        for (const std::size_t n : m_active) {
            float *const gates = rows + n * m_columns;
            apply(0, gates, 2 * m_size);
            if (m_isLate)
                addProducts(gates + m_size, m_room.late + n * m_size, gates + 2 * m_size, m_size);
            else
                multiplyEach(gates + m_size, m_room.hidden + n * m_size, m_room.kept + n * m_size, m_size);
        }
        if (!m_isLate) {
            choose(m_room.kept, m_size, rows + 2 * m_size, m_columns);
            multiply(matrix, m_layers.hidden, m_size, nullptr);
        }
        for (const std::size_t n : m_active) {
            float *const gates = rows + n * m_columns;
            apply(1, gates + 2 * m_size, m_size);
            renewHidden(gates, gates + 2 * m_size, m_room.hidden + n * m_size, m_size);
        }
    }

    void writeSteps(std::size_t k) const
    {
        if (m_layer.result == nullptr)
            return;
        const std::size_t width = tensor::sizeOf(m_layer.resultType);
        for (std::size_t n = 0; n < m_count; ++n) {
            const std::size_t at = timeOf(n, k) * m_layer.to.step + (m_begin + n) * m_layer.to.sequence
                + m_direction * m_layer.to.direction;
            std::byte *const to = m_layer.result + at * width;
            if (k < m_lengths[n])
                tensor::narrow(m_room.hidden + n * m_size, m_layers.hidden, m_layer.resultType, to);
            else
                std::fill_n(to, m_layers.hidden * width, std::byte{});
        }
    }

    void writeStates() const
    {
        for (std::size_t n = 0; m_layers.codes && n < m_count; ++n)
            if (m_lengths[n] == 0) {
                std::fill_n(m_room.hidden + n * m_size, m_size, 0.0F);
                std::fill_n(m_room.cell + n * m_size, m_size, 0.0F);
            }
        const auto write = [&](const RecurrentSlot &slot, const float *states) {
            for (std::size_t n = 0; slot && n < m_count; ++n)
                tensor::narrow(states + n * m_size, m_layers.hidden, m_layers.type,
                               m_outputs[*slot] + stateAt(n) * tensor::sizeOf(m_layers.type));
        };
        write(m_layers.lastHidden, m_room.hidden);
        write(m_layers.lastCell, m_room.cell);
    }

    const RecurrentLayers &m_layers;
    const LayerTensors &m_layer;
    InputBytes m_inputs;
    OutputBytes m_outputs;
    std::size_t m_direction;
    std::size_t m_at; ///< of the part
    const RecurrentPart &m_part;
    std::size_t m_size; ///< of a state, in whole vectors
    std::size_t m_columns; ///< of all gates
    bool m_isReverse;
    bool m_isLate; ///< Gru's reset gate multiplies the product with the state
    const std::stop_token &m_stop;
    std::span<const Recurrence::Function> m_functions;
    const std::byte *m_weights = nullptr;
    const std::byte *m_recurrent = nullptr;
    std::size_t m_begin = 0; ///< the first sequence
    std::size_t m_count = 0;
    WalkRoom m_room;
    std::vector<std::size_t> m_lengths;
    std::vector<std::size_t> m_active; ///< sequences that have the step
    std::vector<const float *> m_rows;
    std::vector<float *> m_sums;
    // Of weights that are codes:
    CodeMatrix m_codedWeights;
    CodeMatrix m_codedRecurrent;
    DynamicCode m_dataCode;
    std::vector<std::int32_t> m_codeSums;
};

class RecurrenceKernel final : public kernels::Kernel
{
public:
    RecurrenceKernel(RecurrentLayers layers, int threads)
        : m_layers(std::move(layers))
        , m_threads(threads)
    {
    }

    std::string name() const override
    {
        return m_layers.codes                         ? "own lstm on codes"
            : m_layers.cell == Recurrence::Cell::Lstm ? "own lstm"
            : m_layers.cell == Recurrence::Cell::Gru  ? "own gru"
                                                      : "own rnn";
    }

    void setStop(std::stop_token stop) override { m_stop = std::move(stop); }

    Result<void> run(InputBytes inputs, OutputBytes outputs) override
    {
        const ThreadScope scope(m_threads);
        const std::byte *weights = inputs[*m_layers.weights];
        const std::byte *recurrent = inputs[*m_layers.recurrent];
        if (!m_layers.isPacked) {
            HALFTONE_TRY(weights, pack(RecurrentMatrix::Weights, weights));
            HALFTONE_TRY(recurrent, pack(RecurrentMatrix::Recurrent, recurrent));
        }
        const ScratchLease between(2 * betweenBytes());
        if (between.data() == nullptr)
            return outOfMemory(2 * betweenBytes(), "what a recurrent layer gives the next one");
        for (std::size_t layer = 0; layer < m_layers.layers(); ++layer)
            if (!runLayer(tensorsOf(layer, inputs, outputs, between.data()), inputs, outputs, weights,
                          recurrent))
                return outOfMemory(kSumBytes, "a recurrent layer");
        return {};
    }

private:
    Result<const std::byte *> pack(RecurrentMatrix which, const std::byte *from)
    {
        Packed &to = which == RecurrentMatrix::Weights ? m_ownWeights : m_ownRecurrent;
        if (!to.memory) {
            to.bytes = packedBytes(m_layers, which);
            to.memory = allocatePages(to.bytes);
            if (!to.memory)
                return outOfMemory(to.bytes, "weights");
        }
        packParts(m_layers, which, from, to.memory.get());
        return static_cast<const std::byte *>(to.memory.get());
    }

    /// Of what one layer gives the next, float32; two of these take turns.
    std::size_t betweenBytes() const
    {
        if (m_layers.layers() == 1)
            return 0;
        const std::size_t count = m_layers.steps * m_layers.batch * m_layers.directions() * m_layers.hidden;
        return (count * sizeof(float) + 63) / 64 * 64;
    }

    LayerTensors tensorsOf(std::size_t layer, InputBytes inputs, OutputBytes outputs, std::byte *rooms) const
    {
        const std::size_t row = m_layers.directions() * m_layers.hidden;
        const RecurrentStrides between{m_layers.batch * row, row, m_layers.hidden};
        const auto room = [&](std::size_t of) { return rooms + of % 2 * betweenBytes(); };
        LayerTensors tensors{inputs[0],     m_layers.type,     m_layers.data, nullptr,
                             m_layers.type, m_layers.sequence, layer};
        if (layer > 0) {
            tensors.data = room(layer - 1);
            tensors.dataType = DType::F32;
            tensors.from = between;
        }
        if (layer + 1 < m_layers.layers()) {
            tensors.result = room(layer);
            tensors.resultType = DType::F32;
            tensors.to = between;
        } else if (m_layers.allHidden) {
            tensors.result = outputs[*m_layers.allHidden];
        }
        return tensors;
    }

    /// false: no memory
    bool runLayer(const LayerTensors &layer, InputBytes inputs, OutputBytes outputs, const std::byte *weights,
                  const std::byte *recurrent) const
    {
        const std::size_t directions = m_layers.directions();
        const auto threads = static_cast<std::size_t>(std::max(omp_get_max_threads(), 1));
        const std::size_t most = m_layers.codes ? 1 : std::max<std::size_t>(m_layers.batch, 1);
        const std::size_t shares = std::clamp<std::size_t>(threads / directions, 1, most);
        const auto tasks = static_cast<std::int64_t>(directions * shares);
        std::atomic<bool> lacksMemory = false;
#pragma omp parallel for schedule(static) if (tasks > 1)
        for (std::int64_t task = 0; task < tasks; ++task) {
            const std::size_t share = static_cast<std::size_t>(task) / directions;
            const std::size_t begin = m_layers.batch * share / shares;
            const std::size_t end = m_layers.batch * (share + 1) / shares;
            try {
                RecurrentWalk walk(m_layers, layer, inputs, outputs,
                                   static_cast<std::size_t>(task) % directions, m_stop);
                const ScratchLease lease(walk.roomFor(end - begin));
                if (lease.data() == nullptr)
                    lacksMemory = true;
                else
                    walk.run(weights, recurrent, begin, end, lease.data());
            } catch (const std::bad_alloc &) {
                lacksMemory = true;
            }
        }
        return !lacksMemory;
    }

    RecurrentLayers m_layers;
    int m_threads = 0;
    std::stop_token m_stop;
    Packed m_ownWeights; ///< of the present run
    Packed m_ownRecurrent;
};

} // namespace

Result<std::shared_ptr<const Packed>> packedParts(const RecurrentLayers &layers, RecurrentMatrix which,
                                                  const tensor::Tensor &held)
{
    HALFTONE_TRY(const tensor::Tensor readable, kernels::readable(held));
    auto packed = std::make_shared<Packed>();
    packed->bytes = packedBytes(layers, which);
    packed->memory = allocateTogether(packed->bytes);
    if (!packed->memory)
        return outOfMemory(packed->bytes, "weights");
    packParts(layers, which, readable.bytes().data(), packed->memory.get());
    return std::shared_ptr<const Packed>(std::move(packed));
}

std::unique_ptr<kernels::Kernel> recurrenceKernel(RecurrentLayers layers, int threads)
{
    return std::make_unique<RecurrenceKernel>(std::move(layers), threads);
}

} // namespace halftone::backends::onednn
