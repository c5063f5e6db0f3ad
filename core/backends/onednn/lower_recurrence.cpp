#include "core/backends/onednn/loops/recurrence.h"
#include "core/backends/onednn/lower.h"

#include <algorithm>
#include <string>
#include <utility>

namespace halftone::backends::onednn {
namespace {

using ops::Recurrence;

/// Describes a recurrent operator to the kernel input by input, and adds it.
class RecurrenceLowering
{
public:
    RecurrenceLowering(Emitter &emitter, const plan::PlanNode &node)
        : m_emitter(emitter)
        , m_node(node)
    {
    }

    RecurrentLayers layers;

    /// Types that the kernel takes, and the data as input 0.
    Result<void> begin()
    {
        layers.type = m_emitter.desc(m_node.inputs[0]).dtype;
        const bool isFloat = layers.type == tensor::DType::F32 || tensor::isHalf(layers.type);
        if (!isFloat || !dnnlType(layers.type) || m_emitter.desc(m_node.inputs[0]).shape.rank() != 3)
            return unsupported("plan", "recurrence over data of this type");
        if (!m_node.post.empty())
            return unsupported("plan", "recurrence with something behind it");
        const auto data = read(0);
        return data.ok() ? Result<void>() : data.error();
    }

    /// An input as it is; its place among the kernel's inputs. fails: Unsupported for another type than the data's
    Result<std::size_t> read(std::size_t input, std::int64_t elements = -1)
    {
        const kernels::TensorDesc &desc = m_emitter.desc(m_node.inputs[input]);
        if (desc.dtype != layers.type || (elements >= 0 && desc.shape.elementCount() != elements))
            return unsupported("plan", "recurrence over tensors of several types");
        return readAny(input);
    }

    Result<std::size_t> readAny(std::size_t input)
    {
        HALFTONE_TRY(const Place place, m_emitter.readPlain(m_node.inputs[input]));
        m_inputs.push_back(place.buffer);
        return m_inputs.size() - 1;
    }

    Result<void> readLengths(std::size_t input)
    {
        layers.lengthsType = m_emitter.desc(m_node.inputs[input]).dtype;
        HALFTONE_TRY(layers.lengths, readAny(input));
        return {};
    }

    /// The matrices, packed once where they are constants. Needs: the parts
    Result<void> readMatrices(std::size_t weights, std::size_t recurrent)
    {
        const auto held = [&](std::size_t input) -> const std::optional<tensor::Tensor> & {
            return m_emitter.graph().values[m_node.inputs[input]].constant;
        };
        if (!holds(weights, RecurrentMatrix::Weights) || !holds(recurrent, RecurrentMatrix::Recurrent))
            return unsupported("plan", "recurrence whose weights are of another shape");
        layers.isPacked = held(weights) && held(recurrent);
        const auto readLoose
            = [this](std::size_t input) { return layers.codes ? readAny(input) : read(input); };
        HALFTONE_TRY(layers.weights,
                     layers.isPacked ? pack(RecurrentMatrix::Weights, *held(weights)) : readLoose(weights));
        HALFTONE_TRY(layers.recurrent,
                     layers.isPacked ? pack(RecurrentMatrix::Recurrent, *held(recurrent))
                                     : readLoose(recurrent));
        return {};
    }

    /// Says that the matrices, inputs 1 and 2, are codes, and reads their scales and zero points. Needs: the parts
    Result<void> readCodes(std::size_t firstScale)
    {
        const tensor::DType type = m_emitter.desc(m_node.inputs[1]).dtype;
        const std::size_t deepest = std::max(layers.parts[0].features, layers.hidden);
        if (layers.type != tensor::DType::F32 || layers.cell != Recurrence::Cell::Lstm
            || (type != tensor::DType::I8 && type != tensor::DType::U8)
            || m_emitter.desc(m_node.inputs[2]).dtype != type || deepest > kMostCodes)
            return unsupported("plan", "recurrence over codes of this type or number");
        layers.codes.emplace().areSigned = type == tensor::DType::I8;
        const auto readOne = [&](std::size_t input, tensor::DType wanted, std::size_t &slot,
                                 std::size_t &each) -> Result<void> {
            const kernels::TensorDesc &desc = m_emitter.desc(m_node.inputs[input]);
            each = desc.shape.rank() == 2 ? layers.gates() * layers.hidden : 1;
            if (desc.dtype != wanted
                || desc.shape.elementCount() != static_cast<std::int64_t>(each * layers.parts.size()))
                return unsupported("plan", "recurrence whose scales have another type or shape");
            HALFTONE_TRY(slot, readAny(input));
            return {};
        };
        for (RecurrentScales *of : {&layers.codes->weights, &layers.codes->recurrent}) {
            HALFTONE_CHECK(readOne(firstScale++, tensor::DType::F32, of->scales, of->scalesEach));
            HALFTONE_CHECK(readOne(firstScale++, type, of->zeros, of->zerosEach));
        }
        return {};
    }

    void finish()
    {
        std::vector<BufferId> outputs;
        const auto write = [&](std::size_t output, RecurrentSlot &slot) {
            if (output >= m_node.outputs.size() || !m_emitter.isRead(m_node.outputs[output]))
                return;
            slot = outputs.size();
            outputs.push_back(m_emitter.writePlain(m_node.outputs[output]).buffer);
        };
        write(0, layers.allHidden);
        write(1, layers.lastHidden);
        write(2, layers.lastCell);
        m_emitter.addKernel(recurrenceKernel(std::move(layers), 0), std::move(m_inputs), std::move(outputs));
    }

private:
    /// Has the input all elements that the parts name?
    bool holds(std::size_t input, RecurrentMatrix which) const
    {
        const auto count = m_emitter.desc(m_node.inputs[input]).shape.elementCount();
        const std::size_t rows = layers.gates() * layers.hidden;
        return count && std::ranges::all_of(layers.parts, [&](const RecurrentPart &part) {
                   const std::size_t end = which == RecurrentMatrix::Weights
                       ? part.weights + rows * part.features
                       : part.recurrent + rows * layers.hidden;
                   return end <= static_cast<std::size_t>(*count);
               });
    }

    Result<std::size_t> pack(RecurrentMatrix which, const tensor::Tensor &held)
    {
        std::string form = layers.codes ? "codes, " : "";
        form += which == RecurrentMatrix::Weights ? "recurrent, weights" : "recurrent, state";
        for (const std::size_t number : {layers.gates(), layers.hidden, layers.parts.size()})
            form += ' ' + std::to_string(number);
        for (const std::size_t gate : layers.gateOrder)
            form += ' ' + std::to_string(gate);
        for (const RecurrentPart &part : layers.parts)
            form += ' ' + std::to_string(part.features);
        const Desc desc = plainDesc({1}, Type::u8); // the kernel alone knows what it is
        HALFTONE_TRY(const Place place, m_emitter.constant(held, form, desc, [this, which, &held] {
            return packedParts(layers, which, held);
        }));
        m_inputs.push_back(place.buffer);
        return m_inputs.size() - 1;
    }

    Emitter &m_emitter;
    const plan::PlanNode &m_node;
    std::vector<BufferId> m_inputs;
};

std::array<std::size_t, 4> definedGateOrder(Recurrence::Cell cell)
{
    return cell == Recurrence::Cell::Lstm ? std::array<std::size_t, 4>{0, 2, 1, 3}
                                          : std::array<std::size_t, 4>{0, 1, 2, 0};
}

void placeTensors(RecurrentLayers &layers, std::size_t features, bool isBatchFirst)
{
    const std::size_t directions = layers.directions();
    const std::size_t row = directions * layers.hidden;
    if (isBatchFirst) {
        layers.data = {features, layers.steps * features, 0};
        layers.sequence = {row, layers.steps * row, layers.hidden};
        layers.state = {0, row, layers.hidden};
    } else {
        layers.data = {layers.batch * features, features, 0};
        layers.sequence = {layers.batch * row, layers.hidden, layers.batch * layers.hidden};
        layers.state = {0, layers.hidden, layers.batch * layers.hidden};
    }
}

std::size_t functionsOf(Recurrence::Cell cell)
{
    return cell == Recurrence::Cell::Lstm ? 3 : cell == Recurrence::Cell::Gru ? 2 : 1;
}

std::int64_t signedSize(std::size_t count)
{
    return static_cast<std::int64_t>(count);
}

/// The cell of an operator of MXNet, whose gates lie in another order: of Lstm input, forget, cell, output, of Gru reset, update,
/// new.
void describeCell(const ops::Rnn &op, RecurrentLayers &layers)
{
    using Cell = ops::Rnn::Cell;
    using Function = Recurrence::Function;
    const Function sigmoid{Function::Kind::Sigmoid};
    const Function tanh{Function::Kind::Tanh};
    std::vector<Function> functions;
    switch (op.cell) {
    case Cell::Relu: // with what is no number as 0, as there
        functions = {Function{Function::Kind::ThresholdedRelu}};
        break;
    case Cell::Tanh:
        functions = {tanh};
        break;
    case Cell::Gru:
        layers.cell = Recurrence::Cell::Gru;
        layers.gateOrder = {1, 0, 2};
        layers.linearBeforeReset = true;
        functions = {sigmoid, tanh};
        break;
    case Cell::Lstm:
        layers.cell = Recurrence::Cell::Lstm;
        layers.gateOrder = {0, 1, 3, 2};
        functions = {sigmoid, tanh, tanh};
        break;
    }
    if (op.bidirectional)
        layers.direction = Recurrence::Direction::Both;
    for (std::size_t k = 0; k < layers.directions(); ++k)
        layers.functions.insert(layers.functions.end(), functions.begin(), functions.end());
}

/// All matrices, part by part, then all biases; the number of elements.
std::size_t placeParameters(RecurrentLayers &layers, std::size_t count, std::size_t features)
{
    const std::size_t rows = layers.gates() * layers.hidden;
    std::size_t at = 0;
    for (std::size_t k = 0; k < count; ++k) {
        RecurrentPart part;
        part.features = k < layers.directions() ? features : layers.directions() * layers.hidden;
        part.weights = at;
        part.recurrent = at + rows * part.features;
        at = part.recurrent + rows * layers.hidden;
        layers.parts.push_back(part);
    }
    for (RecurrentPart &part : layers.parts) {
        part.inputBias = at;
        part.recurrentBias = at + rows;
        at += 2 * rows;
    }
    return at;
}

} // namespace

Result<void> lowerRecurrence(Emitter &emitter, const plan::PlanNode &node, const Recurrence &op)
{
    RecurrenceLowering lowering(emitter, node);
    RecurrentLayers &layers = lowering.layers;
    HALFTONE_CHECK(lowering.begin());
    const Dims data = dimsOf(emitter.desc(node.inputs[0]).shape);
    const auto features = static_cast<std::size_t>(data[2]);
    layers.cell = op.cell;
    layers.direction = op.direction;
    layers.functions = op.functions;
    layers.limit = op.clip ? static_cast<float>(*op.clip) : layers.limit;
    layers.couplesForget = op.couplesForget;
    layers.linearBeforeReset = op.linearBeforeReset;
    layers.gateOrder = definedGateOrder(op.cell);
    layers.steps = static_cast<std::size_t>(data[op.batchFirst ? 1 : 0]);
    layers.batch = static_cast<std::size_t>(data[op.batchFirst ? 0 : 1]);
    layers.hidden = static_cast<std::size_t>(op.hiddenSize);
    if (layers.functions.size() != functionsOf(op.cell) * layers.directions() || layers.hidden == 0
        || layers.limit < 0 || (op.hasCodes && op.batchFirst))
        return unsupported("plan",
                           "recurrence that is described in part"); // the reference says what is wrong
    placeTensors(layers, features, op.batchFirst);
    const std::size_t rows = layers.gates() * layers.hidden;
    for (std::size_t k = 0; k < layers.directions(); ++k)
        layers.parts.push_back(
            {features, k * rows * features, k * rows * layers.hidden, 2 * k * rows, (2 * k + 1) * rows});
    if (op.hasCodes)
        HALFTONE_CHECK(lowering.readCodes(op.scalesInput()));
    HALFTONE_CHECK(lowering.readMatrices(1, 2));
    const auto parts = signedSize(layers.directions());
    const std::int64_t states = parts * data[op.batchFirst ? 0 : 1] * op.hiddenSize;
    std::size_t next = 3;
    if (op.hasBias) {
        HALFTONE_TRY(layers.biases, lowering.read(next++, 2 * parts * signedSize(rows)));
    }
    if (op.hasLengths)
        HALFTONE_CHECK(lowering.readLengths(next++));
    if (op.hasHidden) {
        HALFTONE_TRY(layers.firstHidden, lowering.read(next++, states));
    }
    if (op.hasCell) {
        HALFTONE_TRY(layers.firstCell, lowering.read(next++, states));
    }
    if (op.hasPeepholes) {
        HALFTONE_TRY(layers.peepholes, lowering.read(next, 3 * parts * op.hiddenSize));
    }
    lowering.finish();
    return {};
}

Result<void> lowerRnn(Emitter &emitter, const plan::PlanNode &node, const ops::Rnn &op)
{
    if (op.projectionSize || op.cellClipMin || op.cellClipMax || op.cellClipNan)
        return unsupported("plan", "recurrence that projects its state or cuts its cell");
    RecurrenceLowering lowering(emitter, node);
    RecurrentLayers &layers = lowering.layers;
    HALFTONE_CHECK(lowering.begin());
    const Dims data = dimsOf(emitter.desc(node.inputs[0]).shape);
    describeCell(op, layers);
    layers.steps = static_cast<std::size_t>(data[0]);
    layers.batch = static_cast<std::size_t>(data[1]);
    layers.hidden = static_cast<std::size_t>(op.stateSize);
    const std::size_t directions = layers.directions();
    placeTensors(layers, static_cast<std::size_t>(data[2]), false);
    layers.sequence = {layers.batch * directions * layers.hidden, directions * layers.hidden, layers.hidden};
    const std::size_t parts = static_cast<std::size_t>(op.layers) * directions;
    const std::size_t parameters = placeParameters(layers, parts, static_cast<std::size_t>(data[2]));
    HALFTONE_CHECK(lowering.readMatrices(1, 1));
    HALFTONE_TRY(layers.biases, lowering.read(1, signedSize(parameters)));
    const std::int64_t states = signedSize(parts) * data[1] * op.stateSize;
    HALFTONE_TRY(layers.firstHidden, lowering.read(2, states));
    const bool hasCell = op.cell == ops::Rnn::Cell::Lstm;
    if (hasCell) {
        HALFTONE_TRY(layers.firstCell, lowering.read(3, states));
    }
    if (op.useSequenceLength)
        HALFTONE_CHECK(lowering.readLengths(hasCell ? 4 : 3));
    lowering.finish();
    return {};
}

} // namespace halftone::backends::onednn
