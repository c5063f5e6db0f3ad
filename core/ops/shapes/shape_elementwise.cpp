#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

/// All inputs and output 0 have one shape.
Result<void> unifyAll(ShapeSlots &slots, std::size_t first, std::size_t end)
{
    tensor::Shape common = slots.output(0);
    for (std::size_t i = first; i < end; ++i) {
        HALFTONE_CHECK(slots.setInput(i, common));
        common = slots.input(i);
    }
    for (std::size_t i = first; i < end; ++i)
        HALFTONE_CHECK(slots.setInput(i, common));
    return slots.setOutput(0, common);
}

Result<Dim> broadcastDim(Dim a, Dim b, const tensor::Shape &with, const tensor::Shape &shape)
{
    if (a.isKnown() && b.isKnown()) {
        if (a.value() != b.value() && a.value() != 1 && b.value() != 1)
            return badInput("input 1", "shape " + shape.toString(),
                            "one that stretches with " + with.toString());
        return a.value() == 1 ? b : a;
    }
    // A known dimension over 1 decides: the unknown one is equal to it, or is 1.
    const Dim known = a.isKnown() ? a : b;
    return known.isKnown() && known.value() != 1 ? known : Dim::unknown();
}

} // namespace

Result<tensor::Shape> broadcast(const tensor::Shape &a, const tensor::Shape &b)
{
    if (!a.hasRank() || !b.hasRank())
        return tensor::Shape();
    const std::size_t rank = std::max(a.rank(), b.rank());
    tensor::Shape result = tensor::Shape::ofRank(rank);
    const auto at = [rank](const tensor::Shape &shape, std::size_t axis) {
        const std::size_t missing = rank - shape.rank();
        return axis < missing ? Dim(1) : Dim::of(shape[axis - missing]);
    };
    for (std::size_t axis = 0; axis < rank; ++axis) {
        HALFTONE_TRY(const Dim dim, broadcastDim(at(a, axis), at(b, axis), a, b));
        result[axis] = dim.orUnknown();
    }
    return result;
}

Result<void> infer(const Unary &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const Activation &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const LeakyRelu &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (op.kind == LeakyRelu::Kind::RandomRelu)
        return slots.setOutput(1, slots.input(0));
    if (op.kind != LeakyRelu::Kind::PRelu || !slots.input(0).hasRank())
        return {};
    if (op.stretches) {
        HALFTONE_TRY(const tensor::Shape both, broadcast(slots.input(0), slots.input(1)));
        return slots.setOutput(0, both);
    }
    if (slots.input(0).rank() == 0)
        return slots.wrongInput(0, "rank 1 or more");
    const Dim channels = Dim::of(slots.input(0)[slots.input(0).rank() == 1 ? 0 : 1]);
    const tensor::Shape &slopes = slots.input(1);
    // One slope for all, or slopes of another rank, stretch over the data.
    if (slopes.hasRank() && (slopes.rank() != 1 || slopes[0] == 1))
        return {};
    return slots.setInput(1, {channels});
}

Result<void> infer(const Binary &op, ShapeSlots &slots)
{
    if (!op.broadcast)
        return unifyAll(slots, 0, 2);
    HALFTONE_TRY(const tensor::Shape output, broadcast(slots.input(0), slots.input(1)));
    return slots.setOutput(0, output);
}

Result<void> infer(const ScalarBinary &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const Curve &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const IsInf &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const ClipBetween &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const Join &op, ShapeSlots &slots)
{
    if (!op.broadcast)
        return unifyAll(slots, 0, slots.inputCount());
    if (slots.inputCount() == 0)
        return badInput("input 0", "none", "one input or more");
    tensor::Shape output = slots.input(0);
    for (std::size_t i = 1; i < slots.inputCount(); ++i) {
        HALFTONE_TRY(output, broadcast(output, slots.input(i)));
    }
    return slots.setOutput(0, output);
}

Result<void> infer(const Clip &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const HardSigmoid &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const SmoothL1 &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const Where &op, ShapeSlots &slots)
{
    if (op.broadcast) {
        HALFTONE_TRY(const tensor::Shape both, broadcast(slots.input(1), slots.input(2)));
        HALFTONE_TRY(const tensor::Shape output, broadcast(slots.input(0), both));
        return slots.setOutput(0, output);
    }
    HALFTONE_CHECK(unifyAll(slots, 1, 3));
    const tensor::Shape &values = slots.output(0);
    const tensor::Shape &condition = slots.input(0);
    if (!values.hasRank() || !condition.hasRank())
        return {};
    if (condition.rank() == 1 && values.rank() > 1)
        return slots.setInput(0, {Dim::of(values[0])});
    return slots.setInput(0, tensor::Shape(values));
}

Result<void> infer(const Dropout &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> mask = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::vector<std::size_t> shared, resolveAxes(op.axes, mask.size()));
    for (const std::size_t axis : shared)
        mask[axis] = 1;
    return slots.setOutput(1, mask);
}

Result<void> infer(const Cast &, ShapeSlots &slots)
{
    return slots.unify(0, 0);
}

Result<void> infer(const MultiCast &, ShapeSlots &slots)
{
    for (std::size_t i = 0; i < slots.inputCount(); ++i)
        HALFTONE_CHECK(slots.unify(i, i));
    return {};
}

} // namespace halftone::ops
