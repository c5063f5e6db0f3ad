#include "core/dialect/mxnet/describe_window.h"
#include "core/dialect/mxnet/operator_describe.h"

#include <vector>

namespace halftone::dialect::mxnet {
namespace {

/// Places of MXNet's modes of RNN.
constexpr std::size_t kRnnRelu = 0;
constexpr std::size_t kRnnTanh = 1;
constexpr std::size_t kRnnLstm = 2;
constexpr std::size_t kRnnGru = 3;

std::size_t rnnModeOf(const ops::Recurrence &op)
{
    using Cell = ops::Recurrence::Cell;
    if (op.cell != Cell::Plain)
        return op.cell == Cell::Lstm ? kRnnLstm : kRnnGru;
    const bool isTanh
        = !op.functions.empty() && op.functions[0].kind == ops::Recurrence::Function::Kind::Tanh;
    return isTanh ? kRnnTanh : kRnnRelu;
}

/// The cell, its functions in each direction, and the states that it takes.
void setRnnMode(ops::Recurrence &op, std::size_t mode)
{
    using Cell = ops::Recurrence::Cell;
    using Function = ops::Recurrence::Function;
    const Function sigmoid{Function::Kind::Sigmoid};
    const Function tanh{Function::Kind::Tanh};
    const Function relu{Function::Kind::ThresholdedRelu}; // of NaN 0, as there
    const std::vector<Function> functions = mode == kRnnLstm ? std::vector{sigmoid, tanh, tanh}
        : mode == kRnnGru                                    ? std::vector{sigmoid, tanh}
                                                             : std::vector{mode == kRnnTanh ? tanh : relu};
    op.cell = mode == kRnnLstm ? Cell::Lstm : mode == kRnnGru ? Cell::Gru : Cell::Plain;
    op.functions.clear();
    for (std::int64_t k = 0; k < op.directions(); ++k)
        op.functions.insert(op.functions.end(), functions.begin(), functions.end());
    op.linearBeforeReset = mode == kRnnGru;
    op.hasHidden = true;
    op.hasCell = mode == kRnnLstm;
}

} // namespace

void describe(OperatorFields &f, ops::Conv &op)
{
    f.tuple("kernel", op.kernel);
    f.tuple("stride", op.stride);
    f.tuple("dilate", op.dilate);
    describePad(f, op.pad);
    f.integer("num_filter", op.outputChannels);
    f.integer("num_group", op.groups);
    describeBias(f, op.hasBias);
    describeLayout(f, op.layout, op.kernel.size());
}

void describe(OperatorFields &f, ops::ConvTranspose &op)
{
    f.tuple("kernel", op.kernel);
    f.tuple("stride", op.stride);
    f.tuple("dilate", op.dilate);
    describePad(f, op.pad);
    f.tuple("adj", op.outputPad);
    f.tuple("target_shape", op.targetShape);
    f.integer("num_filter", op.outputChannels);
    f.integer("num_group", op.groups);
    describeBias(f, op.hasBias);
    describeLayout(f, op.layout, op.kernel.size());
}

void describe(OperatorFields &f, ops::FullyConnected &op)
{
    f.integer("num_hidden", op.units);
    f.boolean("flatten", op.flatten);
    describeBias(f, op.hasBias);
}

void describe(OperatorFields &f, ops::MatMul &op)
{
    f.boolean("transpose_a", op.transposeA);
    f.boolean("transpose_b", op.transposeB);
}

void describe(OperatorFields &f, ops::Gemm &op)
{
    f.boolean("transpose_a", op.transposeA);
    f.boolean("transpose_b", op.transposeB);
    f.real("alpha", op.alpha);
    if (op.hasAddend)
        f.real("beta", op.beta);
    f.integer("axis", op.axis);
}

void describe(OperatorFields &f, ops::AttentionProduct &op)
{
    f.integer("heads", op.heads);
}

void describe(OperatorFields &f, ops::Embedding &op)
{
    f.integer("input_dim", op.rows);
    f.integer("output_dim", op.width);
    f.dtype("dtype", op.dtype);
    f.boolean("sparse_grad", op.sparseGradient);
}

void describe(OperatorFields &f, ops::Recurrence &op)
{
    static constexpr std::string_view kModes[] = {"rnn_relu", "rnn_tanh", "lstm", "gru"};
    ops::Recurrence::Stack stack = op.stack.value_or(ops::Recurrence::Stack{});
    std::size_t mode = rnnModeOf(op);
    bool isBidirectional = op.direction == ops::Recurrence::Direction::Both;
    f.choiceIndex("mode", mode, kModes);
    f.integer("state_size", op.hiddenSize);
    f.integer("num_layers", stack.layers);
    f.boolean("bidirectional", isBidirectional);
    f.boolean("state_outputs", stack.givesStates);
    f.boolean("use_sequence_length", op.hasLengths);
    f.optionalInteger("projection_size", stack.projectionSize);
    f.optionalReal("lstm_state_clip_min", stack.cellMin);
    f.optionalReal("lstm_state_clip_max", stack.cellMax);
    f.boolean("lstm_state_clip_nan", stack.replacesNaN);
    op.stack = stack;
    op.direction = isBidirectional ? ops::Recurrence::Direction::Both : ops::Recurrence::Direction::Forward;
    setRnnMode(op, mode);
}

} // namespace halftone::dialect::mxnet
