#include "core/ops/recurrent_parts.h"

namespace halftone::ops {
namespace {

using Cell = Recurrence::Cell;

std::size_t gateRowsOf(const Recurrence &op)
{
    return static_cast<std::size_t>(op.gates() * op.hiddenSize);
}

std::vector<RecurrentPart> partsOfLayer(const Recurrence &op, std::size_t features)
{
    const std::size_t rows = gateRowsOf(op);
    const auto hidden = static_cast<std::size_t>(op.hiddenSize);
    std::vector<RecurrentPart> parts;
    for (std::size_t k = 0; k < static_cast<std::size_t>(op.directions()); ++k)
        parts.push_back({.features = features,
                         .weights = k * rows * features,
                         .recurrent = k * rows * hidden,
                         .inputBias = 2 * k * rows,
                         .recurrentBias = (2 * k + 1) * rows});
    return parts;
}

std::vector<RecurrentPart> partsOfStack(const Recurrence &op, std::size_t features)
{
    const std::size_t rows = gateRowsOf(op);
    const auto outputs = static_cast<std::size_t>(op.outputSize());
    const auto directions = static_cast<std::size_t>(op.directions());
    const std::size_t projected
        = op.stack->projectionSize ? outputs * static_cast<std::size_t>(op.hiddenSize) : 0;
    std::vector<RecurrentPart> parts(static_cast<std::size_t>(op.layers()) * directions);
    std::size_t at = 0;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        RecurrentPart &part = parts[k];
        part.features = k < directions ? features : directions * outputs;
        part.weights = at;
        part.recurrent = part.weights + rows * part.features;
        part.projection = part.recurrent + rows * outputs;
        at = part.projection + projected;
    }
    for (RecurrentPart &part : parts) {
        part.inputBias = at;
        part.recurrentBias = at + rows;
        at += 2 * rows;
    }
    return parts;
}

} // namespace

std::vector<RecurrentPart> recurrentParts(const Recurrence &op, std::size_t features)
{
    return op.stack ? partsOfStack(op, features) : partsOfLayer(op, features);
}

std::size_t recurrentParameterCount(const Recurrence &op, std::size_t features)
{
    const std::vector<RecurrentPart> parts = recurrentParts(op, features);
    return parts.empty() ? 0 : parts.back().recurrentBias + gateRowsOf(op);
}

std::array<std::size_t, 4> recurrentGateOrder(const Recurrence &op)
{
    if (op.cell == Cell::Lstm)
        return op.stack ? std::array<std::size_t, 4>{0, 1, 3, 2} : std::array<std::size_t, 4>{0, 2, 1, 3};
    return op.stack && op.cell == Cell::Gru ? std::array<std::size_t, 4>{1, 0, 2, 0}
                                            : std::array<std::size_t, 4>{0, 1, 2, 0};
}

} // namespace halftone::ops
