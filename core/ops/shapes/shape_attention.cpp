#include "core/ops/shape_rules.h"

namespace halftone::ops {
namespace {

/// (sequence, batch, width) of an input of rank 3.
struct Projection
{
    Dim length = Dim::unknown();
    Dim batch = Dim::unknown();
    Dim width = Dim::unknown();
};

Result<Projection> projection(const ShapeSlots &slots, std::size_t input)
{
    HALFTONE_CHECK(slots.needRank(input, 3));
    const std::vector<Dim> dims = dimsOr(slots.input(input), 3);
    return Projection{dims[0], dims[1], dims[2]};
}

/// fails: the width is not heads × parts × size.
Result<void> needParts(const ShapeSlots &slots, std::size_t input, Dim width, Dim unit)
{
    if (unit.isOutOfRange() || (width.isKnown() && width.value() % unit.value() != 0))
        return slots.wrongInput(input, "a width in a multiple of " + std::to_string(unit.orUnknown()));
    return {};
}

Result<void> inferScores(const AttentionProduct &op, ShapeSlots &slots, bool cross)
{
    HALFTONE_TRY(const Projection queries, projection(slots, 0));
    HALFTONE_CHECK(needParts(slots, 0, queries.width, Dim(op.heads) * (cross ? 1 : 3)));
    Dim keys = queries.length;
    if (cross) {
        HALFTONE_CHECK(slots.needRank(1, 3));
        HALFTONE_CHECK(slots.setInput(1, {Dim::unknown(), queries.batch, queries.width * 2}));
        keys = dimsOr(slots.input(1), 3)[0];
    }
    return slots.setOutput(0, {queries.batch * op.heads, queries.length, keys});
}

Result<void> inferValues(const AttentionProduct &op, ShapeSlots &slots, bool cross)
{
    const std::int64_t parts = cross ? 2 : 3;
    HALFTONE_TRY(const Projection values, projection(slots, 0));
    HALFTONE_CHECK(needParts(slots, 0, values.width, Dim(op.heads) * parts));
    const Dim queries = cross ? Dim::unknown() : values.length;
    HALFTONE_CHECK(slots.setInput(1, {values.batch * op.heads, queries, values.length}));
    return slots.setOutput(0, {dimsOr(slots.input(1), 3)[1], values.batch, values.width / parts});
}

} // namespace

Result<void> infer(const AttentionProduct &op, ShapeSlots &slots)
{
    using Kind = AttentionProduct::Kind;
    HALFTONE_CHECK(needAtLeast("heads", op.heads, 1));
    const bool cross = op.kind == Kind::CrossScores || op.kind == Kind::CrossValues;
    const bool scores = op.kind == Kind::SelfScores || op.kind == Kind::CrossScores;
    return scores ? inferScores(op, slots, cross) : inferValues(op, slots, cross);
}

} // namespace halftone::ops
