#include "core/ops/shape_rules.h"

#include <algorithm>
#include <array>

namespace halftone::ops {
namespace {

std::size_t inputsOf(const Conv &op)
{
    return op.hasBias ? 3 : 2;
}
std::size_t inputsOf(const FullyConnected &op)
{
    return op.hasBias ? 3 : 2;
}
std::size_t inputsOf(const Pool &)
{
    return 1;
}
std::size_t inputsOf(const Activation &)
{
    return 1;
}
std::size_t inputsOf(const BatchNormalization &)
{
    return 5;
}
std::size_t inputsOf(const Concat &op)
{
    return static_cast<std::size_t>(std::max<std::int64_t>(op.inputs, 0));
}
std::size_t inputsOf(const Flatten &)
{
    return 1;
}
std::size_t inputsOf(const Binary &)
{
    return 2;
}
std::size_t inputsOf(const Embedding &)
{
    return 2;
}

Result<void> setRanges(ShapeSlots &slots, std::size_t firstInput)
{
    for (std::size_t i = firstInput; i < slots.inputCount(); ++i)
        HALFTONE_CHECK(slots.setInput(i, {Dim(1)}));
    for (std::size_t o = 1; o < slots.outputCount(); ++o)
        HALFTONE_CHECK(slots.setOutput(o, {Dim(1)}));
    return {};
}

/// The rule of `op` for its own inputs and its output.
template <class T>
Result<void> inferReal(const T &op, ShapeSlots &slots)
{
    std::vector<tensor::Shape> inputs;
    for (std::size_t i = 0; i < std::min(inputsOf(op), slots.inputCount()); ++i)
        inputs.push_back(slots.input(i));
    tensor::Shape output = slots.output(0);
    ShapeSlots inner(inputs, std::span(&output, 1));
    HALFTONE_CHECK(infer(op, inner));
    for (std::size_t i = 0; i < inputs.size(); ++i)
        HALFTONE_CHECK(slots.setInput(i, inputs[i]));
    return slots.setOutput(0, output);
}

template <class T>
Result<void> inferQuantized(const Quantized<T> &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(inferReal(op.op, slots));
    return setRanges(slots, std::min(inputsOf(op.op), slots.inputCount()));
}

} // namespace

Result<void> infer(const FusedProduct &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(op.conv ? inferReal(*op.conv, slots) : inferReal(op.full, slots));
    for (std::size_t i = op.gamma(); op.norm && i < op.addend() && slots.input(1).rank() > 0; ++i)
        HALFTONE_CHECK(slots.setInput(i, {Dim::of(slots.input(1)[0])}));
    if (op.hasSum)
        HALFTONE_CHECK(slots.setInput(op.addend(), slots.output(0)));
    return setRanges(slots, op.ends());
}

// Plans alone hold these, whose shapes are known.
// clang-format off
Result<void> infer(const CodedChain &, ShapeSlots &) { return {}; }
Result<void> infer(const CodedSums &, ShapeSlots &) { return {}; }
Result<void> infer(const CodedAverage &, ShapeSlots &) { return {}; }
Result<void> infer(const CodedMultiply &, ShapeSlots &) { return {}; }
Result<void> infer(const RowAttention &, ShapeSlots &) { return {}; }
// clang-format on

// clang-format off
Result<void> infer(const Quantized<Conv> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
Result<void> infer(const Quantized<FullyConnected> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
Result<void> infer(const Quantized<Pool> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
Result<void> infer(const Quantized<Activation> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
Result<void> infer(const Quantized<BatchNormalization> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
Result<void> infer(const Quantized<Concat> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
Result<void> infer(const Quantized<Flatten> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
Result<void> infer(const Quantized<Binary> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
Result<void> infer(const Quantized<Embedding> &op, ShapeSlots &slots) { return inferQuantized(op, slots); }
// clang-format on

Result<void> infer(const Quantize &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    return setRanges(slots, 1);
}

Result<void> infer(const Requantize &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    return setRanges(slots, 1);
}

Result<void> infer(const Dequantize &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    return setRanges(slots, 1);
}

Result<void> infer(const QuantizeLinear &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const DequantizeLinear &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const DynamicQuantizeLinear &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    HALFTONE_CHECK(slots.setOutput(1, tensor::Shape(std::vector<std::int64_t>{})));
    return slots.setOutput(2, tensor::Shape(std::vector<std::int64_t>{}));
}

namespace {

/// The rule of `op` for data and weight, which stand at `places`.
template <class T>
Result<void> inferProduct(const T &op, ShapeSlots &slots, std::array<std::size_t, 2> places)
{
    std::array<tensor::Shape, 2> inputs{slots.input(places[0]), slots.input(places[1])};
    tensor::Shape output = slots.output(0);
    ShapeSlots inner(inputs, std::span(&output, 1));
    HALFTONE_CHECK(infer(op, inner));
    HALFTONE_CHECK(slots.setInput(places[0], inputs[0]));
    HALFTONE_CHECK(slots.setInput(places[1], inputs[1]));
    return slots.setOutput(0, output);
}

} // namespace

Result<void> infer(const CodedConv &op, ShapeSlots &slots)
{
    Conv conv = op.conv;
    conv.hasBias = false;
    if (op.recodes && op.conv.hasBias)
        HALFTONE_CHECK(slots.setInput(8, {Dim(conv.outputChannels)}));
    return inferProduct(conv, slots, {0, op.recodes ? 3U : 1U});
}

Result<void> infer(const CodedMatMul &op, ShapeSlots &slots)
{
    return inferProduct(MatMul{.form = MatMul::Form::Stretched}, slots, {0, op.recodes ? 3U : 1U});
}

Result<void> infer(const BatchNormRelu &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(infer(op.norm, slots));
    return slots.unify(0, 3);
}

} // namespace halftone::ops
