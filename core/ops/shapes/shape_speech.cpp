#include "core/ops/shape_rules.h"

namespace halftone::ops {
namespace {

/// Tensors of heads: (N, heads, T, size) whatever their rank is.
struct HeadDims
{
    Dim batch = Dim::unknown();
    Dim heads = Dim::unknown();
    Dim length = Dim::unknown();
    Dim size = Dim::unknown();
};

Result<HeadDims> headsOf(const ShapeSlots &slots, std::size_t input, std::int64_t heads)
{
    const tensor::Shape &shape = slots.input(input);
    const std::vector<Dim> dims = dimsOf(shape);
    if (dims.size() == 4)
        return HeadDims{dims[0], dims[1], dims[2], dims[3]};
    if (dims.size() != 3)
        return slots.wrongInput(input, "rank 3 or 4");
    HALFTONE_CHECK(needAtLeast("heads", heads, 1));
    if (dims[2].isKnown() && dims[2].value() % heads != 0)
        return slots.wrongInput(input, "a last axis in a multiple of " + std::to_string(heads) + " heads");
    return HeadDims{dims[0], Dim(heads), dims[1], dims[2] / heads};
}

/// fails: the mask, input 3, does not stretch to (N, heads, queries, keys); it may have fewer keys.
Result<void> needMask(const Attention &op, const ShapeSlots &slots, const std::vector<Dim> &scores)
{
    const tensor::Shape &mask = slots.input(3);
    if (!mask.hasRank())
        return {};
    bool fits = mask.rank() <= scores.size();
    for (std::size_t k = 0; fits && k < mask.rank(); ++k) {
        const Dim extent = Dim::of(mask[mask.rank() - 1 - k]);
        const Dim wanted = scores[scores.size() - 1 - k];
        if (!extent.isKnown() || !wanted.isKnown())
            continue;
        const bool stretches = extent.value() == 1 && !(k == 0 && op.padsMask);
        fits = stretches || extent.value() == wanted.value() || (k == 0 && extent.value() < wanted.value());
    }
    return fits ? Result<void>()
                : slots.wrongInput(3, "a shape that stretches to (batch, heads, queries, keys)");
}

/// Of pairs in the axis itself; a rank other than 2 and 4 has no shape.
Result<void> inferPairs(const DFT &op, ShapeSlots &slots)
{
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (dims.size() != 2 && dims.size() != 4)
        return {};
    dims.back() = op.inverse ? dims.back() / 2 : dims.back() * 2;
    return slots.setOutput(0, dims);
}

} // namespace

Result<void> infer(const DFT &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    if (op.pairsInAxis)
        return inferPairs(op, slots);
    if (data.rank() < 2)
        return slots.wrongInput(0, "rank 2 or more");
    std::vector<Dim> dims = dimsOf(data);
    if (dims.back().isKnown() && dims.back().value() != 1 && dims.back().value() != 2)
        return slots.wrongInput(0, "1 or 2 in the last axis");
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size()));
    if (axis + 1 == dims.size())
        return badAttribute("axis", std::to_string(op.axis), "another than the last");
    if (op.length)
        HALFTONE_CHECK(needAtLeast("length", *op.length, 1));
    const bool toReal = op.inverse && op.onesided;
    const Dim length = op.length ? Dim(*op.length) : toReal ? (dims[axis] - 1) * 2 : dims[axis];
    dims[axis] = op.onesided && !op.inverse ? length / 2 + 1 : length;
    dims.back() = toReal ? 1 : 2;
    return slots.setOutput(0, dims);
}

Result<void> infer(const STFT &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("frame step", op.step, 1));
    HALFTONE_CHECK(needAtLeast("frame length", op.length, 1));
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    if (data.rank() != 3 && data.rank() != 2)
        return slots.wrongInput(0, "rank 2 or 3");
    const Dim slack = Dim::of(data[1]) - op.length;
    if (slack.isKnown() && slack.value() < 0)
        return slots.wrongInput(0, "at least one frame of " + std::to_string(op.length));
    if (op.windowInput)
        HALFTONE_CHECK(slots.setInput(*op.windowInput, {Dim(op.length)}));
    return slots.setOutput(
        0, {Dim::of(data[0]), slack / op.step + 1, Dim(op.onesided ? op.length / 2 + 1 : op.length), Dim(2)});
}

Result<void> infer(const Attention &op, ShapeSlots &slots)
{
    for (std::size_t i = 0; i < 3; ++i)
        if (!slots.input(i).hasRank())
            return {};
    HALFTONE_TRY(const HeadDims queries, headsOf(slots, 0, op.queryHeads));
    HALFTONE_TRY(const HeadDims keys, headsOf(slots, 1, op.keyHeads));
    HALFTONE_TRY(const HeadDims values, headsOf(slots, 2, op.keyHeads));
    const bool groups = queries.heads.isKnown() && keys.heads.isKnown()
        && (keys.heads.value() < 1 || queries.heads.value() % keys.heads.value() != 0);
    const auto differ = [](Dim a, Dim b) { return a.isKnown() && b.isKnown() && a.value() != b.value(); };
    if (groups || differ(queries.size, keys.size) || differ(queries.batch, keys.batch))
        return slots.wrongInput(1, "heads that divide those of the queries, in their size and number");
    if (differ(keys.heads, values.heads) || differ(keys.length, values.length)
        || differ(keys.batch, values.batch))
        return slots.wrongInput(2, "as many heads and places as input 1, " + slots.input(1).toString());
    Dim total = keys.length;
    std::size_t next = op.hasMask ? 4 : 3;
    if (op.hasPast) {
        HALFTONE_CHECK(slots.needRank(next, 4));
        const Dim past = dimsOr(slots.input(next), 4)[2];
        HALFTONE_CHECK(slots.setInput(next, {keys.batch, keys.heads, past, keys.size}));
        HALFTONE_CHECK(slots.setInput(next + 1, {values.batch, values.heads, past, values.size}));
        total = total + past;
        next += 2;
    }
    if (op.hasLengths)
        HALFTONE_CHECK(slots.setInput(next, {queries.batch}));
    if (op.hasMask)
        HALFTONE_CHECK(needMask(op, slots, {queries.batch, queries.heads, queries.length, total}));
    HALFTONE_CHECK(
        slots.setOutput(0,
                        slots.input(0).rank() == 4
                            ? std::vector<Dim>{queries.batch, queries.heads, queries.length, values.size}
                            : std::vector<Dim>{queries.batch, queries.length, queries.heads * values.size}));
    HALFTONE_CHECK(slots.setOutput(1, {keys.batch, keys.heads, total, keys.size}));
    HALFTONE_CHECK(slots.setOutput(2, {values.batch, values.heads, total, values.size}));
    return slots.setOutput(3, {queries.batch, queries.heads, queries.length, total});
}

Result<void> infer(const RotaryEmbedding &op, ShapeSlots &slots)
{
    if (slots.input(0).hasRank()) {
        HALFTONE_TRY(const HeadDims data, headsOf(slots, 0, op.heads));
        if (data.size.isKnown() && (op.size < 0 || op.size > data.size.value()))
            return badAttribute("size", std::to_string(op.size),
                                "at most the heads' " + std::to_string(data.size.value()));
        const Dim pairs = (op.size == 0 ? data.size : Dim(op.size)) / 2;
        for (std::size_t i = 1; i < 3; ++i) {
            HALFTONE_CHECK(slots.needRank(i, op.hasPositions ? 2 : 3));
            HALFTONE_CHECK(slots.setInput(i,
                                          op.hasPositions
                                              ? std::vector<Dim>{dimsOr(slots.input(i), 2)[0], pairs}
                                              : std::vector<Dim>{data.batch, data.length, pairs}));
        }
        if (op.hasPositions)
            HALFTONE_CHECK(slots.setInput(3, {data.batch, data.length}));
    }
    return slots.unify(0, 0);
}

} // namespace halftone::ops
