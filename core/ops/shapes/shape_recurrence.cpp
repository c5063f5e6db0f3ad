#include "core/ops/shape_rules.h"

namespace halftone::ops {
namespace {

/// Per layer and direction: input and recurrent weights and two biases for each gate, then the projection's
/// weight.
Dim parameterCount(const Recurrence &op, Dim features)
{
    const Dim directions = op.directions();
    const Dim outputs = op.outputSize();
    const Dim gateRows = Dim(op.gates()) * op.hiddenSize;
    const Dim first = gateRows * (features + outputs + 2);
    const Dim other = gateRows * (outputs * directions + outputs + 2);
    const Dim projection = op.stack->projectionSize ? outputs * op.hiddenSize : Dim(0);
    return directions * (first + other * (Dim(op.layers()) - 1) + projection * op.layers());
}

/// The batch size, which every tensor but the parameters tells.
Dim batchOf(const ShapeSlots &slots, std::size_t states)
{
    Dim batch = Dim::unknown();
    const auto learn = [&batch](const tensor::Shape &shape) {
        if (!batch.isKnown() && shape.hasRank() && shape.rank() == 3)
            batch = Dim::of(shape[1]);
    };
    learn(slots.input(0));
    learn(slots.output(0));
    for (std::size_t i = 0; i < states; ++i)
        learn(slots.input(2 + i));
    return batch;
}

Result<void> inferStack(const Recurrence &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("layers", op.layers(), 1));
    HALFTONE_CHECK(needAtLeast("projection size", op.outputSize(), 1));
    HALFTONE_CHECK(slots.needRank(0, 3));
    const std::size_t states = op.cell == Recurrence::Cell::Lstm ? 2 : 1;
    const Dim directions = op.directions();
    const Dim outputs = op.outputSize();

    std::vector<Dim> data = dimsOr(slots.input(0), 3);
    data[1] = batchOf(slots, states);
    const tensor::Shape &output = slots.output(0);
    if (!data[0].isKnown() && output.hasRank() && output.rank() == 3)
        data[0] = Dim::of(output[0]);
    HALFTONE_CHECK(slots.setInput(0, data));
    HALFTONE_CHECK(slots.setInput(1, {parameterCount(op, data[2])}));
    HALFTONE_CHECK(slots.setOutput(0, {data[0], data[1], outputs * directions}));
    for (std::size_t i = 0; i < states; ++i) {
        const std::vector<Dim> state{directions * op.layers(), data[1],
                                     i == 0 ? outputs : Dim(op.hiddenSize)};
        HALFTONE_CHECK(slots.setInput(op.hiddenInput() + i, state));
        if (op.stack->givesStates)
            HALFTONE_CHECK(slots.setOutput(1 + i, state));
    }
    return op.hasLengths ? slots.setInput(op.lengthsInput(), {data[1]}) : Result<void>();
}

Result<void> inferLayer(const Recurrence &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.needRank(0, 3));
    const std::vector<Dim> data = dimsOr(slots.input(0), 3);
    const Dim steps = data[op.batchFirst ? 1 : 0];
    const Dim batch = data[op.batchFirst ? 0 : 1];
    const Dim directions = op.directions();
    const Dim hidden = op.hiddenSize;
    const Dim gates = Dim(op.gates()) * hidden;
    HALFTONE_CHECK(op.hasCodes ? slots.setInput(1, {directions, data[2], gates})
                               : slots.setInput(1, {directions, gates, data[2]}));
    HALFTONE_CHECK(op.hasCodes ? slots.setInput(2, {directions, hidden, gates})
                               : slots.setInput(2, {directions, gates, hidden}));
    const std::vector<Dim> state = op.batchFirst ? std::vector<Dim>{batch, directions, hidden}
                                                 : std::vector<Dim>{directions, batch, hidden};
    std::size_t next = 3;
    if (op.hasBias)
        HALFTONE_CHECK(slots.setInput(next++, {directions, gates * 2}));
    if (op.hasLengths)
        HALFTONE_CHECK(slots.setInput(next++, {batch}));
    if (op.hasHidden)
        HALFTONE_CHECK(slots.setInput(next++, state));
    if (op.hasCell)
        HALFTONE_CHECK(slots.setInput(next++, state));
    if (op.hasPeepholes)
        HALFTONE_CHECK(slots.setInput(next++, {directions, hidden * 3}));
    for (const std::size_t end = next + 4; op.hasCodes && next < end; ++next)
        if (const tensor::Shape &scales = slots.input(next); scales.hasRank())
            HALFTONE_CHECK(slots.setInput(next,
                                          scales.rank() == 2 ? std::vector<Dim>{directions, gates}
                                                             : std::vector<Dim>{directions}));
    HALFTONE_CHECK(slots.setOutput(0,
                                   op.batchFirst ? std::vector<Dim>{batch, steps, directions, hidden}
                                                 : std::vector<Dim>{steps, directions, batch, hidden}));
    HALFTONE_CHECK(slots.setOutput(1, state));
    return slots.setOutput(2, state);
}

} // namespace

Result<void> infer(const Recurrence &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("hidden size", op.hiddenSize, 1));
    return op.stack ? inferStack(op, slots) : inferLayer(op, slots);
}

} // namespace halftone::ops
