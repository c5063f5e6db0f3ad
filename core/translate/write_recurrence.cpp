#include "core/tensor/convert.h"
#include "core/translate/writers.h"

#include <array>
#include <string>
#include <utility>

namespace halftone::translate {
namespace {

using tensor::DType;
using tensor::Shape;
using Cell = ops::Rnn::Cell;

struct CellForm
{
    std::string_view op;
    std::int64_t gates = 1;
    /// Which gate of the parameter vector stands in each place of ONNX: there i f c o, here i o f c; there r z n, here z r n.
    std::array<std::size_t, 4> order{};
};

CellForm formOf(Cell cell)
{
    switch (cell) {
    case Cell::Lstm:
        return {"LSTM", 4, {0, 3, 1, 2}};
    case Cell::Gru:
        return {"GRU", 3, {1, 0, 2}};
    case Cell::Relu:
    case Cell::Tanh:
        break;
    }
    return {"RNN", 1, {0}};
}

/// The parameter vector: of each layer and direction the weights of the input and of the state, then of each the two biases.
class Parameters
{
public:
    Parameters(std::span<const float> values, const ops::Rnn &op, const CellForm &form, std::int64_t features)
        : m_values(values)
        , m_form(form)
        , m_size(static_cast<std::size_t>(op.stateSize))
        , m_directions(op.bidirectional ? 2 : 1)
        , m_layers(static_cast<std::size_t>(op.layers))
        , m_features(static_cast<std::size_t>(features))
    {
    }

    std::size_t widthOf(std::size_t layer) const { return layer == 0 ? m_features : m_size * m_directions; }
    std::size_t gateRows() const { return static_cast<std::size_t>(m_form.gates) * m_size; }

    std::size_t count() const
    {
        std::size_t all = 0;
        for (std::size_t layer = 0; layer < m_layers; ++layer)
            all += m_directions * gateRows() * (widthOf(layer) + m_size + 2);
        return all;
    }
    bool fits() const { return count() == m_values.size(); }

    /// (directions, gates · size, width) of a layer. `ofState`: what the state is multiplied by.
    std::vector<float> weights(std::size_t layer, bool ofState) const
    {
        std::size_t at = 0;
        for (std::size_t before = 0; before < layer; ++before)
            at += m_directions * gateRows() * (widthOf(before) + m_size);
        std::vector<float> result;
        for (std::size_t direction = 0; direction < m_directions; ++direction) {
            const std::size_t first = ofState ? at + gateRows() * widthOf(layer) : at;
            append(result, first, m_size * (ofState ? m_size : widthOf(layer)));
            at += gateRows() * (widthOf(layer) + m_size);
        }
        return result;
    }

    /// (directions, 2 · gates · size)
    std::vector<float> biases(std::size_t layer) const
    {
        std::size_t at = 0;
        for (std::size_t other = 0; other < m_layers; ++other)
            at += m_directions * gateRows() * (widthOf(other) + m_size);
        at += layer * m_directions * 2 * gateRows();
        std::vector<float> result;
        for (std::size_t part = 0; part < 2 * m_directions; ++part)
            append(result, at + part * gateRows(), m_size);
        return result;
    }

private:
    /// The gates from there on, each so long, in ONNX's order.
    void append(std::vector<float> &to, std::size_t first, std::size_t length) const
    {
        for (std::size_t gate = 0; gate < static_cast<std::size_t>(m_form.gates); ++gate) {
            const auto from = m_values.subspan(first + m_form.order[gate] * length, length);
            to.insert(to.end(), from.begin(), from.end());
        }
    }

    std::span<const float> m_values;
    const CellForm &m_form;
    std::size_t m_size;
    std::size_t m_directions;
    std::size_t m_layers;
    std::size_t m_features;
};

graph::Attributes cellAttributes(const ops::Rnn &op)
{
    graph::Attributes attributes{{"hidden_size", text(op.stateSize)},
                                 {"direction", op.bidirectional ? "bidirectional" : "forward"}};
    if (op.cell == Cell::Gru)
        attributes.set("linear_before_reset", "1");
    if (op.cell == Cell::Relu)
        attributes.set("activations", op.bidirectional ? "[Relu,Relu]" : "[Relu]");
    return attributes;
}

/// The states of one layer out of those of all.
Value stateOf(NodeWriter &to, std::size_t input, std::int64_t layer, const ops::Rnn &op)
{
    const Value state = to.cast(to.in(input), to.type(input), to.type(0));
    if (op.layers == 1)
        return state;
    const std::int64_t directions = op.bidirectional ? 2 : 1;
    return to.add("Slice",
                  {state, to.integers("first", {layer * directions}),
                   to.integers("end", {(layer + 1) * directions}), to.integers("axis", {0})});
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
Value writeLayer(NodeWriter &to, const ops::Rnn &op, const Parameters &parameters, std::size_t layer,
                 const Value &data)
{
    const std::size_t directions = op.bidirectional ? 2 : 1;
    const auto size = static_cast<std::size_t>(op.stateSize);
    const std::size_t rows = parameters.gateRows();
    const Value weight = constantOf(to, "W", parameters.weights(layer, false),
                                    sizes({directions, rows, parameters.widthOf(layer)}));
    const Value recurrent
        = constantOf(to, "R", parameters.weights(layer, true), sizes({directions, rows, size}));
    const Value bias = constantOf(to, "B", parameters.biases(layer), sizes({directions, 2 * rows}));
    const auto number = static_cast<std::int64_t>(layer);
    Values inputs{data, weight, recurrent, bias, kNone, stateOf(to, 2, number, op)};
    if (op.cell == Cell::Lstm)
        inputs.push_back(stateOf(to, 3, number, op));
    return to.add(formOf(op.cell).op, inputs, cellAttributes(op), op.cell == Cell::Lstm ? 3 : 2);
}

/// (T, directions, N, size) to (T, N, directions · size).
Value sideBySide(NodeWriter &to, const Value &sequence, const ops::Rnn &op)
{
    if (!op.bidirectional)
        return to.add("Squeeze", {sequence, to.integers("direction", {1})});
    const Value turned = to.add("Transpose", {sequence}, {{"perm", "[0,2,1,3]"}});
    return to.add("Reshape", {turned, to.integers("features", {0, 0, -1})});
}

Result<void> checkRnn(NodeWriter &to, const ops::Rnn &op)
{
    if (op.projectionSize)
        return to.refuse("uses a projected state");
    if (op.cellClipMin || op.cellClipMax)
        return to.refuse("clips its cell state");
    if (op.useSequenceLength)
        return to.refuse("uses sequence lengths");
    if (op.stateSize < 1 || op.layers < 1)
        return to.refuse("has no state");
    return {};
}

Result<void> writeRnn(NodeWriter &to, const ops::Rnn &op)
{
    HALFTONE_CHECK(checkRnn(to, op));
    const tensor::Tensor *const held = to.wideParameter(1);
    if (held == nullptr)
        return to.refuse("its parameters are not stored in the file");
    HALFTONE_TRY(const tensor::Tensor reals, tensor::castTo(*held, DType::F32));
    const std::vector<float> values = reals.values<float>();
    HALFTONE_TRY(const std::size_t rank, to.rank());
    const std::int64_t features = rank == 3 ? to.shape(0)[2] : -1;
    const CellForm form = formOf(op.cell);
    // The number of parameters tells the features, where nothing else does.
    const Parameters none({}, op, form, 0);
    const std::size_t perFeature = none.gateRows() * (op.bidirectional ? 2 : 1);
    const std::size_t rest = values.size() < none.count() ? 0 : (values.size() - none.count()) / perFeature;
    const Parameters parameters(values, op, form, features > 0 ? features : static_cast<std::int64_t>(rest));
    if (!parameters.fits())
        return badInput(to.node().name, std::to_string(values.size()) + " parameters",
                        std::to_string(parameters.count()));
    Value data = to.in();
    Values states;
    Values cells;
    for (std::size_t layer = 0; layer < static_cast<std::size_t>(op.layers); ++layer) {
        const Value all = writeLayer(to, op, parameters, layer, data);
        states.push_back({all.node, 1, 0});
        cells.push_back({all.node, 2, 0});
        data = sideBySide(to, all, op);
    }
    to.set(data);
    if (!op.stateOutputs)
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
    static constexpr std::array kRows{writes<ops::Rnn, writeRnn>()};
    return kRows;
}

} // namespace halftone::translate
