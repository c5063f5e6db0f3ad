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

/// All but parameters and places.
void describeRecurrence(const Recurrence &op, const Dims &data, RecurrentLayers &layers)
{
    layers.cell = op.cell;
    layers.direction = op.direction;
    layers.functions = op.functions;
    layers.limit = op.clip ? static_cast<float>(*op.clip) : layers.limit;
    layers.couplesForget = op.couplesForget;
    layers.linearBeforeReset = op.linearBeforeReset;
    layers.gateOrder = ops::recurrentGateOrder(op);
    layers.steps = static_cast<std::size_t>(data[op.batchFirst ? 1 : 0]);
    layers.batch = static_cast<std::size_t>(data[op.batchFirst ? 0 : 1]);
    layers.hidden = static_cast<std::size_t>(op.hiddenSize);
}

void placeTensors(RecurrentLayers &layers, const Recurrence &op, std::size_t features)
{
    const std::size_t directions = layers.directions();
    const std::size_t row = directions * layers.hidden;
    if (op.batchFirst) {
        layers.data = {features, layers.steps * features, 0};
        layers.sequence = {row, layers.steps * row, layers.hidden};
        layers.state = {0, row, layers.hidden};
    } else {
        layers.data = {layers.batch * features, features, 0};
        layers.sequence = {layers.batch * row, layers.hidden, layers.batch * layers.hidden};
        layers.state = {0, layers.hidden, layers.batch * layers.hidden};
    }
    if (op.stack)
        layers.sequence = {layers.batch * row, row, layers.hidden};
}

std::int64_t signedSize(std::size_t count)
{
    return static_cast<std::int64_t>(count);
}

} // namespace

Result<void> lowerRecurrence(Emitter &emitter, const plan::PlanNode &node, const Recurrence &op)
{
    if (op.stack
        && (op.stack->projectionSize || op.stack->cellMin || op.stack->cellMax || op.stack->replacesNaN))
        return unsupported("plan", "recurrence that projects its state or cuts its cell");
    RecurrenceLowering lowering(emitter, node);
    RecurrentLayers &layers = lowering.layers;
    HALFTONE_CHECK(lowering.begin());
    const Dims data = dimsOf(emitter.desc(node.inputs[0]).shape);
    const auto features = static_cast<std::size_t>(data[2]);
    describeRecurrence(op, data, layers);
    if (layers.functions.size() != op.functionsEach() * layers.directions() || layers.hidden == 0
        || layers.limit < 0 || (op.hasCodes && op.batchFirst))
        return unsupported("plan",
                           "recurrence that is described in part"); // the reference says what is wrong
    placeTensors(layers, op, features);
    layers.parts = ops::recurrentParts(op, features);
    if (op.hasCodes)
        HALFTONE_CHECK(lowering.readCodes(op.scalesInput()));
    HALFTONE_CHECK(lowering.readMatrices(1, op.stack ? 1 : 2));
    const auto parts = signedSize(layers.parts.size());
    const std::int64_t states = parts * data[op.batchFirst ? 0 : 1] * op.hiddenSize;
    if (op.stack) {
        HALFTONE_TRY(layers.biases, lowering.read(1, signedSize(ops::recurrentParameterCount(op, features))));
    } else if (op.hasBias) {
        HALFTONE_TRY(layers.biases, lowering.read(3, 2 * parts * op.gates() * op.hiddenSize));
    }
    if (op.hasLengths)
        HALFTONE_CHECK(lowering.readLengths(op.lengthsInput()));
    if (op.hasHidden) {
        HALFTONE_TRY(layers.firstHidden, lowering.read(op.hiddenInput(), states));
    }
    if (op.hasCell) {
        HALFTONE_TRY(layers.firstCell, lowering.read(op.cellInput(), states));
    }
    if (op.hasPeepholes) {
        HALFTONE_TRY(layers.peepholes, lowering.read(op.peepholesInput(), 3 * parts * op.hiddenSize));
    }
    lowering.finish();
    return {};
}

} // namespace halftone::backends::onednn
