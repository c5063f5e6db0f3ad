#include "core/ops/recurrent_parts.h"
#include "core/tensor/convert.h"
#include "core/translate/writers.h"

#include <string>
#include <utility>

namespace halftone::translate {
namespace {

using tensor::DType;
using tensor::Shape;
using Cell = ops::Recurrence::Cell;

struct CellForm
{
    std::string_view op;
    /// Which gate of the parameter vector stands in each place of ONNX: there i f c o, here i o f c; there r z n, here z r n.
    std::array<std::size_t, 4> order{};
};

CellForm formOf(Cell cell)
{
    switch (cell) {
    case Cell::Lstm:
        return {"LSTM", {0, 3, 1, 2}};
    case Cell::Gru:
        return {"GRU", {1, 0, 2}};
    case Cell::Plain:
        break;
    }
    return {"RNN", {0}};
}

/// The parameter vector of a stack, as the layers of ONNX have them.
class StackParameters
{
public:
    StackParameters(std::span<const float> values, const ops::Recurrence &op, std::size_t features)
        : m_values(values)
        , m_op(op)
        , m_form(formOf(op.cell))
        , m_parts(ops::recurrentParts(op, features))
    {
    }

    std::size_t gateRows() const { return static_cast<std::size_t>(m_op.gates()) * size(); }
    std::size_t widthOf(std::size_t layer) const { return part(layer, 0).features; }

    /// (directions, gates · size, width) of a layer. `ofState`: what the state is multiplied by.
    std::vector<float> weights(std::size_t layer, bool ofState) const
    {
        std::vector<float> result;
        for (std::size_t k = 0; k < directions(); ++k)
            append(result, ofState ? part(layer, k).recurrent : part(layer, k).weights,
                   size() * (ofState ? size() : widthOf(layer)));
        return result;
    }

    /// (directions, 2 · gates · size)
    std::vector<float> biases(std::size_t layer) const
    {
        std::vector<float> result;
        for (std::size_t k = 0; k < directions(); ++k) {
            append(result, part(layer, k).inputBias, size());
            append(result, part(layer, k).recurrentBias, size());
        }
        return result;
    }

private:
    std::size_t size() const { return static_cast<std::size_t>(m_op.hiddenSize); }
    std::size_t directions() const { return static_cast<std::size_t>(m_op.directions()); }
    const ops::RecurrentPart &part(std::size_t layer, std::size_t direction) const
    {
        return m_parts[layer * directions() + direction];
    }

    /// The gates from there on, each so long, in ONNX's order.
    void append(std::vector<float> &to, std::size_t first, std::size_t length) const
    {
        for (std::size_t gate = 0; gate < static_cast<std::size_t>(m_op.gates()); ++gate) {
            const auto from = m_values.subspan(first + m_form.order[gate] * length, length);
            to.insert(to.end(), from.begin(), from.end());
        }
    }

    std::span<const float> m_values;
    const ops::Recurrence &m_op;
    CellForm m_form;
    std::vector<ops::RecurrentPart> m_parts;
};

bool isBidirectional(const ops::Recurrence &op)
{
    return op.direction == ops::Recurrence::Direction::Both;
}

graph::Attributes cellAttributes(const ops::Recurrence &op)
{
    graph::Attributes attributes{{"hidden_size", text(op.hiddenSize)},
                                 {"direction", isBidirectional(op) ? "bidirectional" : "forward"}};
    if (op.linearBeforeReset)
        attributes.set("linear_before_reset", "1");
    if (op.cell == Cell::Plain && op.functions[0].kind != ops::Recurrence::Function::Kind::Tanh)
        attributes.set("activations", isBidirectional(op) ? "[Relu,Relu]" : "[Relu]");
    return attributes;
}

/// The states of one layer out of those of all.
Value stateOf(NodeWriter &to, std::size_t input, std::int64_t layer, const ops::Recurrence &op)
{
    const Value state = to.cast(to.in(input), to.type(input), to.type(0));
    if (op.layers() == 1)
        return state;
    return to.add("Slice",
                  {state, to.integers("first", {layer * op.directions()}),
                   to.integers("end", {(layer + 1) * op.directions()}), to.integers("axis", {0})});
}

Shape sizes(std::initializer_list<std::size_t> extents)
{
    std::vector<std::int64_t> dims;
    for (const std::size_t extent : extents)
        dims.push_back(static_cast<std::int64_t>(extent));
    return Shape(std::move(dims));
}

Value constantOf(NodeWriter &to, std::string_view what, const std::vector<float> &values, const Shape &shape)
{
    return to.cast(to.floats(what, values, shape), DType::F32, to.type(0));
}

/// A layer, whose directions stand side by side in the features of its output.
Value writeLayer(NodeWriter &to, const ops::Recurrence &op, const StackParameters &parameters,
                 std::size_t layer, const Value &data)
{
    const auto directions = static_cast<std::size_t>(op.directions());
    const auto size = static_cast<std::size_t>(op.hiddenSize);
    const std::size_t rows = parameters.gateRows();
    const Value weight = constantOf(to, "W", parameters.weights(layer, false),
                                    sizes({directions, rows, parameters.widthOf(layer)}));
    const Value recurrent
        = constantOf(to, "R", parameters.weights(layer, true), sizes({directions, rows, size}));
    const Value bias = constantOf(to, "B", parameters.biases(layer), sizes({directions, 2 * rows}));
    const auto number = static_cast<std::int64_t>(layer);
    Values inputs{data, weight, recurrent, bias, kNone, stateOf(to, op.hiddenInput(), number, op)};
    if (op.cell == Cell::Lstm)
        inputs.push_back(stateOf(to, op.cellInput(), number, op));
    return to.add(formOf(op.cell).op, inputs, cellAttributes(op), op.cell == Cell::Lstm ? 3 : 2);
}

/// (T, directions, N, size) to (T, N, directions · size).
Value sideBySide(NodeWriter &to, const Value &sequence, const ops::Recurrence &op)
{
    if (!isBidirectional(op))
        return to.add("Squeeze", {sequence, to.integers("direction", {1})});
    const Value turned = to.add("Transpose", {sequence}, {{"perm", "[0,2,1,3]"}});
    return to.add("Reshape", {turned, to.integers("features", {0, 0, -1})});
}

Result<void> checkStack(NodeWriter &to, const ops::Recurrence &op)
{
    if (!op.stack)
        return to.refuse("is not a stack of layers");
    if (op.stack->projectionSize)
        return to.refuse("uses a projected state");
    if (op.stack->cellMin || op.stack->cellMax)
        return to.refuse("clips its cell state");
    if (op.hasLengths)
        return to.refuse("uses sequence lengths");
    if (op.hiddenSize < 1 || op.layers() < 1)
        return to.refuse("has no state");
    return {};
}

/// Features of the data: as their shape says, else as the number of parameters does.
Result<std::size_t> featuresOf(NodeWriter &to, const ops::Recurrence &op, std::size_t parameters)
{
    HALFTONE_TRY(const std::size_t rank, to.rank());
    const std::int64_t known = rank == 3 ? to.shape(0)[2] : -1;
    if (static_cast<std::size_t>(op.layers()) > parameters)
        return badInput(to.node().name, std::to_string(parameters) + " parameters",
                        "some for each of " + std::to_string(op.layers()) + " layers");
    const std::size_t fixed = ops::recurrentParameterCount(op, 0);
    const auto perFeature = static_cast<std::size_t>(op.gates() * op.hiddenSize * op.directions());
    const std::size_t rest = parameters < fixed ? 0 : (parameters - fixed) / perFeature;
    const std::size_t features = known > 0 ? static_cast<std::size_t>(known) : rest;
    const std::size_t needed = ops::recurrentParameterCount(op, features);
    if (needed != parameters)
        return badInput(to.node().name, std::to_string(parameters) + " parameters", std::to_string(needed));
    return features;
}

Result<void> writeRecurrence(NodeWriter &to, const ops::Recurrence &op)
{
    HALFTONE_CHECK(checkStack(to, op));
    const tensor::Tensor *const held = to.wideParameter(1);
    if (held == nullptr)
        return to.refuse("its parameters are not stored in the file");
    HALFTONE_TRY(const tensor::Tensor reals, tensor::castTo(*held, DType::F32));
    const std::vector<float> values = reals.values<float>();
    HALFTONE_TRY(const std::size_t features, featuresOf(to, op, values.size()));
    const StackParameters parameters(values, op, features);
    Value data = to.in();
    Values states;
    Values cells;
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(op.layers()); ++layer) {
        const Value all = writeLayer(to, op, parameters, layer, data);
        states.push_back({all.node, 1, 0});
        cells.push_back({all.node, 2, 0});
        data = sideBySide(to, all, op);
    }
    to.set(data);
    if (!op.stack->givesStates)
        return {};
    const auto joined = [&](const Values &parts) {
        return parts.size() == 1 ? parts[0] : to.add("Concat", parts, {{"axis", "0"}});
    };
    to.set(joined(states), 1);
    if (op.cell == Cell::Lstm)
        to.set(joined(cells), 2);
    return {};
}

} // namespace

std::span<const WriterRow> recurrenceWriters()
{
    static constexpr std::array kRows{writes<ops::Recurrence, writeRecurrence>()};
    return kRows;
}

} // namespace halftone::translate
