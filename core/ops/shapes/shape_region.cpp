#include "core/ops/shape_rules.h"

#include <array>

namespace halftone::ops {
namespace {

/// Input `i` is (…, 4) of rank 3, as far as it is known.
Result<void> needBoxes(ShapeSlots &slots, std::size_t i)
{
    HALFTONE_CHECK(slots.needRank(i, 3));
    return slots.setInput(i, {Dim::unknown(), Dim::unknown(), Dim(4)});
}

/// Data (N, C, H, W) and regions of so many numbers.
Result<void> needRegions(ShapeSlots &slots, std::int64_t numbers)
{
    HALFTONE_CHECK(slots.needRank(0, 4));
    HALFTONE_CHECK(slots.needRank(1, 2));
    return slots.setInput(1, {Dim::unknown(), Dim(numbers)});
}

} // namespace

Result<void> infer(const BoxDecode &, ShapeSlots &slots)
{
    HALFTONE_CHECK(needBoxes(slots, 0));
    HALFTONE_CHECK(needBoxes(slots, 1));
    return slots.unify(0, 0);
}

Result<void> infer(const BoxEncode &, ShapeSlots &slots)
{
    for (const std::size_t i : {0, 1})
        HALFTONE_CHECK(slots.needRank(i, 2));
    for (const std::size_t i : {2, 3})
        HALFTONE_CHECK(needBoxes(slots, i));
    for (const std::size_t i : {4, 5})
        HALFTONE_CHECK(slots.setInput(i, {Dim(4)}));
    HALFTONE_CHECK(slots.setInput(1, slots.input(0)));
    HALFTONE_CHECK(slots.setInput(0, slots.input(1)));
    const std::vector<Dim> samples = dimsOr(slots.input(0), 2);
    for (const std::size_t o : {0, 1})
        HALFTONE_CHECK(slots.setOutput(o, {samples[0], samples[1], Dim(4)}));
    return {};
}

Result<void> infer(const BoxMatch &, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (dims.size() < 2)
        return slots.wrongInput(0, "rank 2 or more");
    const Dim columns = dims.back();
    dims.pop_back();
    HALFTONE_CHECK(slots.setOutput(0, dims));
    dims.back() = columns;
    return slots.setOutput(1, dims);
}

Result<void> infer(const Proposal &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("rpn_post_nms_top_n", op.after, 1));
    HALFTONE_CHECK(slots.needRank(0, 4));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_CHECK(slots.setInput(2, {dims[0], Dim(3)}));
    const Dim regions = op.perPicture ? dims[0] * op.after : Dim(op.after);
    dims[1] = dims[1] * 2;
    HALFTONE_CHECK(slots.setInput(1, dims));
    HALFTONE_CHECK(slots.setOutput(0, {regions, Dim(5)}));
    return slots.setOutput(1, {regions, Dim(1)});
}

Result<void> infer(const PositionPool &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("output_dim", op.outputChannels, 1));
    HALFTONE_CHECK(needAtLeast("pooled_size", op.size, 1));
    HALFTONE_CHECK(needRegions(slots, 5));
    const std::vector<Dim> output{dimsOr(slots.input(1), 2)[0], op.outputChannels, op.size, op.size};
    HALFTONE_CHECK(slots.setOutput(0, output));
    return op.deformable ? slots.setOutput(1, output) : Result<void>();
}

Result<void> infer(const RotatedRoiAlign &op, ShapeSlots &slots)
{
    if (op.pooledSize.size() != 2)
        return badAttribute("pooled_size", std::to_string(op.pooledSize.size()) + " values", "2");
    for (const std::int64_t extent : op.pooledSize)
        HALFTONE_CHECK(needAtLeast("pooled_size", extent, 1));
    HALFTONE_CHECK(needRegions(slots, 6));
    return slots.setOutput(
        0, {dimsOr(slots.input(1), 2)[0], dimsOr(slots.input(0), 4)[1], op.pooledSize[0], op.pooledSize[1]});
}

Result<void> infer(const Correlation &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("kernel_size", op.kernel, 1));
    HALFTONE_CHECK(needAtLeast("max_displacement", op.maxDisplacement, 0));
    HALFTONE_CHECK(needAtLeast("stride1", op.stride1, 1));
    HALFTONE_CHECK(needAtLeast("stride2", op.stride2, 1));
    HALFTONE_CHECK(needAtLeast("pad_size", op.pad, 0));
    for (const std::size_t i : {0, 1})
        HALFTONE_CHECK(slots.needRank(i, 4));
    if (!slots.input(0).hasRank())
        return {};
    const std::vector<Dim> data = dimsOf(slots.input(0));
    const Dim border = Dim(op.maxDisplacement) + (op.kernel - 1) / 2;
    const Dim reach = Dim(op.maxDisplacement / op.stride2) * 2 + 1;
    std::array<Dim, 2> padded{0, 0};
    std::array<Dim, 2> places{0, 0};
    for (const std::size_t i : {0, 1}) {
        padded[i] = data[2 + i] + Dim(op.pad) * 2;
        const Dim left = padded[i] - border * 2;
        if (left.isKnown() && left.value() < 1)
            return slots.wrongInput(0, "padded extents above twice the largest displacement");
        places[i] = ceilDivide(left, op.stride1);
    }
    HALFTONE_CHECK(slots.setOutput(0, {data[0], reach * reach, places[0], places[1]}));
    for (const std::size_t o : {1, 2})
        HALFTONE_CHECK(slots.setOutput(o, {data[0], padded[0], padded[1], data[1]}));
    return {};
}

} // namespace halftone::ops
