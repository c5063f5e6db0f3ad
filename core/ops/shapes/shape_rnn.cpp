#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

std::int64_t gateCount(Rnn::Cell cell)
{
    return cell == Rnn::Cell::Lstm ? 4 : cell == Rnn::Cell::Gru ? 3 : 1;
}

/// Per layer and direction: input and recurrent weights and two biases for each gate, then the projection's
/// weight.
Dim parameterCount(const Rnn &op, Dim features)
{
    const Dim directions = op.bidirectional ? 2 : 1;
    const Dim hidden = op.projectionSize.value_or(op.stateSize);
    const Dim gateRows = Dim(gateCount(op.cell)) * op.stateSize;
    const Dim first = gateRows * (features + hidden + 2);
    const Dim other = gateRows * (hidden * directions + hidden + 2);
    const Dim projection = op.projectionSize ? hidden * op.stateSize : Dim(0);
    return directions * (first + other * (Dim(op.layers) - 1) + projection * op.layers);
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

} // namespace

Result<void> infer(const Rnn &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("state size", op.stateSize, 1));
    HALFTONE_CHECK(needAtLeast("layers", op.layers, 1));
    HALFTONE_CHECK(needAtLeast("projection size", op.projectionSize.value_or(1), 1));
    HALFTONE_CHECK(slots.needRank(0, 3));
    const std::size_t states = op.cell == Rnn::Cell::Lstm ? 2 : 1;
    const Dim directions = op.bidirectional ? 2 : 1;
    const Dim hidden = op.projectionSize.value_or(op.stateSize);

    std::vector<Dim> data = dimsOr(slots.input(0), 3);
    data[1] = batchOf(slots, states);
    const tensor::Shape &output = slots.output(0);
    if (!data[0].isKnown() && output.hasRank() && output.rank() == 3)
        data[0] = Dim::of(output[0]);
    HALFTONE_CHECK(slots.setInput(0, data));
    HALFTONE_CHECK(slots.setInput(1, {parameterCount(op, data[2])}));
    HALFTONE_CHECK(slots.setOutput(0, {data[0], data[1], hidden * directions}));
    for (std::size_t i = 0; i < states; ++i) {
        const std::vector<Dim> state{directions * op.layers, data[1], i == 0 ? hidden : Dim(op.stateSize)};
        HALFTONE_CHECK(slots.setInput(2 + i, state));
        if (op.stateOutputs)
            HALFTONE_CHECK(slots.setOutput(1 + i, state));
    }
    return op.useSequenceLength ? slots.setInput(2 + states, {data[1]}) : Result<void>();
}

} // namespace halftone::ops
