#include "core/dialect/mxnet/describe_window.h"
#include "core/dialect/mxnet/operator_describe.h"

namespace halftone::dialect::mxnet {

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

void describe(OperatorFields &f, ops::Deconv &op)
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

void describe(OperatorFields &f, ops::Rnn &op)
{
    static constexpr std::string_view kCells[] = {"rnn_relu", "rnn_tanh", "lstm", "gru"};
    f.choice("mode", op.cell, kCells);
    f.integer("state_size", op.stateSize);
    f.integer("num_layers", op.layers);
    f.boolean("bidirectional", op.bidirectional);
    f.boolean("state_outputs", op.stateOutputs);
    f.boolean("use_sequence_length", op.useSequenceLength);
    f.optionalInteger("projection_size", op.projectionSize);
    f.real("p", op.dropout);
    f.optionalReal("lstm_state_clip_min", op.cellClipMin);
    f.optionalReal("lstm_state_clip_max", op.cellClipMax);
    f.boolean("lstm_state_clip_nan", op.cellClipNan);
}

} // namespace halftone::dialect::mxnet
