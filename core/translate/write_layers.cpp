#include "core/translate/layer_nodes.h"
#include "core/translate/writers.h"

#include <array>

namespace halftone::translate {
namespace {

using tensor::DType;
using tensor::Shape;

/// The channels brought to axis 1, and back.
struct ChannelMove
{
    ops::Dims there{};
    ops::Dims back{};

    ChannelMove(std::size_t rank, std::size_t channel)
    {
        for (std::size_t k = 0; k < rank; ++k)
            if (k != channel)
                there.push_back(static_cast<std::int64_t>(k));
        there.insert(there.begin() + 1, static_cast<std::int64_t>(channel));
        back.resize(rank);
        for (std::size_t k = 0; k < rank; ++k)
            back[static_cast<std::size_t>(there[k])] = static_cast<std::int64_t>(k);
    }
};

/// Ones instead of a factor that counts as 1, under its name where nobody else has asked for it yet.
Result<Value> onesFor(NodeWriter &to, std::size_t input)
{
    const Shape &shape = to.shape(input);
    const auto count = shape.elementCount();
    if (!shape.isComplete() || !count)
        return to.unknownShape();
    return to.numbers("ones", std::vector<double>(static_cast<std::size_t>(*count), 1), to.type(input),
                      shape);
}

Result<void> writeBatchNormalization(NodeWriter &to, const ops::BatchNormalization &op)
{
    HALFTONE_TRY(const std::int64_t axis, to.axis(op.axis));
    HALFTONE_TRY(const std::size_t rank, to.rank());
    Value gamma = kNone;
    if (op.fixGamma) {
        HALFTONE_TRY(gamma, onesFor(to, 1));
    } else {
        gamma = to.in(1);
    }
    if (rank < 2 || axis == 0)
        return to.refuse("normalises over an axis that ONNX does not support");
    const bool isMoved = axis != 1;
    const ChannelMove move(rank, static_cast<std::size_t>(axis));
    Value data = to.in();
    if (isMoved)
        data = to.add("Transpose", {data}, {{"perm", text(move.there)}});
    Value value = to.add("BatchNormalization", {data, gamma, to.in(2), to.in(3), to.in(4)},
                         {{"epsilon", text(op.epsilon)}, {"momentum", text(op.momentum)}});
    if (isMoved)
        value = to.add("Transpose", {value}, {{"perm", text(move.back)}});
    to.set(value);
    return {};
}

/// `axes` in front of and behind the one that a vector belongs to.
Result<Value> alongAxis(NodeWriter &to, std::size_t input, std::int64_t axis, std::size_t rank)
{
    ops::Dims axes;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(rank); ++k)
        if (k != axis)
            axes.push_back(k);
    const Value value = to.cast(to.in(input), to.type(input), to.type(0));
    return axes.empty() ? value : to.add("Unsqueeze", {value, to.integers("axes", axes)});
}

Result<void> writeLayerNormalization(NodeWriter &to, const ops::LayerNormalization &op)
{
    HALFTONE_TRY(const std::int64_t axis, to.axis(op.axis));
    HALFTONE_TRY(const std::size_t rank, to.rank());
    if (axis + 1 == static_cast<std::int64_t>(rank)) {
        to.set(to.add(
            "LayerNormalization",
            {to.in(), to.cast(to.in(1), to.type(1), to.type(0)), to.cast(to.in(2), to.type(2), to.type(0))},
            {{"axis", "-1"}, {"epsilon", text(op.epsilon)}}));
        return {};
    }
    const Value axes = to.integers("axis", {axis});
    const Value centred = to.add("Sub", {to.in(), to.add("ReduceMean", {to.in(), axes})});
    const Value variance = to.add("ReduceMean", {to.add("Mul", {centred, centred}), axes});
    const Value deviation
        = to.add("Sqrt", {to.add("Add", {variance, to.number("epsilon", op.epsilon, to.type(0))})});
    HALFTONE_TRY(const Value gamma, alongAxis(to, 1, axis, rank));
    HALFTONE_TRY(const Value beta, alongAxis(to, 2, axis, rank));
    to.set(to.add("Add", {to.add("Mul", {to.add("Div", {centred, deviation}), gamma}), beta}));
    return {};
}

Result<void> writeInstanceNormalization(NodeWriter &to, const ops::InstanceNormalization &op)
{
    to.set(to.add(
        "InstanceNormalization",
        {to.in(), to.cast(to.in(1), to.type(1), to.type(0)), to.cast(to.in(2), to.type(2), to.type(0))},
        {{"epsilon", text(op.epsilon)}}));
    return {};
}

/// Groups as the channels of an instance normalisation, then the factors.
Result<void> writeGroupNormalization(NodeWriter &to, const ops::GroupNormalization &op)
{
    HALFTONE_TRY(const std::size_t rank, to.rank());
    const std::int64_t channels = rank > 1 ? to.shape(0)[1] : -1;
    if (channels < 1 || op.groups < 1 || channels % op.groups != 0)
        return to.unknownShape();
    const auto groups = static_cast<std::size_t>(op.groups);
    const DType type = to.type(0);
    const Value parts = to.add("Reshape", {to.in(), to.integers("groups", {0, op.groups, -1})});
    const Value ones = to.numbers("ones", std::vector<double>(groups, 1), type, Shape{op.groups});
    const Value zeros = to.numbers("zeros", std::vector<double>(groups, 0), type, Shape{op.groups});
    Value value = to.add("InstanceNormalization", {parts, ones, zeros}, {{"epsilon", text(op.epsilon)}});
    const auto factorOf = [&](std::size_t input) {
        ops::Dims shape{1, op.perChannel ? channels : op.groups, 1};
        if (op.perChannel)
            shape.insert(shape.end(), rank - 3, 1);
        return to.add("Reshape",
                      {to.cast(to.in(input), to.type(input), type), to.integers("factors", shape)});
    };
    const Value back = to.add("Shape", {to.in()});
    if (op.perChannel)
        value = to.add("Reshape", {value, back});
    value = to.add("Add", {to.add("Mul", {value, factorOf(1)}), factorOf(2)});
    to.set(op.perChannel ? value : to.add("Reshape", {value, back}));
    return {};
}

Result<void> writeLpNormalization(NodeWriter &to, const ops::LpNormalization &op)
{
    HALFTONE_TRY(const std::size_t rank, to.rank());
    ops::Dims axes;
    const std::int64_t end = op.toEnd ? static_cast<std::int64_t>(rank) : op.axis + 1;
    for (std::int64_t axis = op.axis; axis < end; ++axis)
        axes.push_back(axis);
    const Value sum = to.add("ReduceSumSquare", {to.in(), to.integers("axes", axes)});
    const Value norm
        = to.add("Sqrt", {to.add("Add", {sum, to.number("epsilon", op.epsilon.value_or(0), to.type(0))})});
    to.set(to.add("Div", {to.in(), norm}));
    return {};
}

Result<void> writeLRN(NodeWriter &to, const ops::LRN &op)
{
    to.set(to.add(
        "LRN", {to.in()},
        {{"size", text(op.size)}, {"alpha", text(op.alpha)}, {"beta", text(op.beta)}, {"bias", text(op.k)}}));
    return {};
}

Result<void> writeFullyConnected(NodeWriter &to, const ops::FullyConnected &op)
{
    to.set(fullyConnected(to, op, {to.in(), to.in(1), op.hasBias ? to.in(2) : kNone}));
    return {};
}

/// The last two axes swapped.
Result<Value> swapped(NodeWriter &to, std::size_t input)
{
    HALFTONE_TRY(const std::size_t rank, to.rank(input));
    ops::Dims axes;
    for (std::size_t k = 0; k < rank; ++k)
        axes.push_back(static_cast<std::int64_t>(k));
    if (rank >= 2)
        std::swap(axes[rank - 1], axes[rank - 2]);
    return to.add("Transpose", {to.in(input)}, {{"perm", text(axes)}});
}

Result<Value> factor(NodeWriter &to, std::size_t input, bool isTransposed)
{
    if (isTransposed)
        return swapped(to, input);
    return to.in(input);
}

Result<void> writeMatMul(NodeWriter &to, const ops::MatMul &op)
{
    if (op.form == ops::MatMul::Form::Dot) {
        HALFTONE_TRY(const std::size_t a, to.rank(0));
        HALFTONE_TRY(const std::size_t b, to.rank(1));
        // A matrix product has the last axis but one of the second in common, a dot the first; a transposed vector is itself.
        if (b > 2 || (a > 2 && op.transposeA))
            return to.refuse("multiplies tensors of more than two axes");
        HALFTONE_TRY(const Value left, factor(to, 0, op.transposeA && a == 2));
        HALFTONE_TRY(const Value right, factor(to, 1, op.transposeB && b == 2));
        const Value product = to.add("MatMul", {left, right});
        to.set(a == 1 && b == 1 && to.outShape().rank() == 1
                   ? to.add("Reshape", {product, to.integers("shape", {1})})
                   : product);
        return {};
    }
    HALFTONE_TRY(const Value left, factor(to, 0, op.transposeA));
    HALFTONE_TRY(const Value right, factor(to, 1, op.transposeB));
    to.set(to.add("MatMul", {left, right}));
    return {};
}

Result<void> writeGemm(NodeWriter &to, const ops::Gemm &op)
{
    if (op.axis != -2)
        return to.refuse("has its rows on an axis other than the second to last");
    HALFTONE_TRY(const Value left, factor(to, 0, op.transposeA));
    HALFTONE_TRY(const Value right, factor(to, 1, op.transposeB));
    Value value = to.add("MatMul", {left, right});
    if (op.alpha != 1)
        value = to.add("Mul", {value, to.number("alpha", op.alpha, to.type(0))});
    if (op.hasAddend) {
        Value addend = to.in(2);
        if (op.beta != 1)
            addend = to.add("Mul", {addend, to.number("beta", op.beta, to.type(0))});
        value = to.add("Add", {value, addend});
    }
    to.set(value);
    return {};
}

/// Indices as integers within the table, as the operator takes them.
Value indicesWithin(NodeWriter &to, std::size_t input, std::int64_t extent)
{
    const Value integers = to.cast(to.in(input), to.type(input), DType::I64);
    return to.add("Clip", {integers, to.integer("first", 0), to.integer("last", extent - 1)});
}

Result<void> writeEmbedding(NodeWriter &to, const ops::Embedding &op)
{
    to.set(to.add("Gather", {to.in(1), indicesWithin(to, 0, op.rows)}));
    return {};
}

} // namespace

Value fullyConnected(NodeWriter &to, const ops::FullyConnected &op, const Values &inputs)
{
    Value data = inputs[0];
    if (op.flatten || to.shape(0).rank() == 2) {
        if (to.shape(0).rank() != 2)
            data = to.add("Flatten", {data});
        return to.add("Gemm", {data, inputs[1], inputs[2]}, {{"transB", "1"}});
    }
    const Value weight = to.add("Transpose", {inputs[1]}, {{"perm", "[1,0]"}});
    const Value product = to.add("MatMul", {data, weight});
    return op.hasBias ? to.add("Add", {product, inputs[2]}) : product;
}

std::span<const WriterRow> layerWriters()
{
    static constexpr std::array kRows{
        writes<ops::BatchNormalization, writeBatchNormalization>(),
        writes<ops::LayerNormalization, writeLayerNormalization>(),
        writes<ops::InstanceNormalization, writeInstanceNormalization>(),
        writes<ops::GroupNormalization, writeGroupNormalization>(),
        writes<ops::LpNormalization, writeLpNormalization>(),
        writes<ops::LRN, writeLRN>(),
        writes<ops::FullyConnected, writeFullyConnected>(),
        writes<ops::MatMul, writeMatMul>(),
        writes<ops::Gemm, writeGemm>(),
        writes<ops::Embedding, writeEmbedding>(),
    };
    return kRows;
}

} // namespace halftone::translate
