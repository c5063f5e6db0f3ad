#include "core/ops/shape_rules.h"
#include "core/ops/window.h"

namespace halftone::ops {
namespace {

Result<void> needSize(const Dims &size)
{
    if (size.size() != 2)
        return badAttribute("target_shape", std::to_string(size.size()) + " values", "2");
    for (const std::int64_t extent : size)
        HALFTONE_CHECK(needAtLeast("target_shape", extent, 1));
    return {};
}

/// Input `i` is (N, 6): affine matrices.
Result<void> needMatrices(ShapeSlots &slots, std::size_t i)
{
    HALFTONE_CHECK(slots.needRank(i, 2));
    return slots.setInput(i, {Dim::unknown(), Dim(6)});
}

/// The places at which a window stands, and how many elements it covers.
struct Places
{
    std::vector<Dim> extents;
    Dim count = 1;
    Dim taps = 1;
};

Result<Places> placesOf(const Unfold &op, const std::vector<Dim> &extents, std::size_t mostAxes = 3)
{
    HALFTONE_TRY(const Window window, makeWindow(op.kernel, op.stride, op.dilate, op.pad, mostAxes));
    if (extents.size() != window.rank())
        return badAttribute("kernel", std::to_string(window.rank()) + " axes",
                            std::to_string(extents.size()));
    Places places;
    for (std::size_t i = 0; i < window.rank(); ++i) {
        const Dim slack = extents[i] + window.padding(i) - window.reach(i);
        if (slack.isOutOfRange() || (slack.isKnown() && slack.value() < 0))
            return badAttribute("kernel", "a window wider than axis " + std::to_string(i), "a narrower one");
        places.extents.push_back(slack / window.stride[i] + 1);
        places.count = places.count * places.extents.back();
        places.taps = places.taps * window.kernel[i];
    }
    return places;
}

/// Copies the positions `from` of the node's inputs to another rule and takes over what that learns.
Result<void> inferInner(const Conv &op, std::span<const std::size_t> from, ShapeSlots &slots)
{
    std::vector<tensor::Shape> inputs;
    for (const std::size_t i : from)
        inputs.push_back(slots.input(i));
    tensor::Shape output = slots.output(0);
    ShapeSlots inner(inputs, std::span(&output, 1));
    HALFTONE_CHECK(infer(op, inner));
    for (std::size_t k = 0; k < from.size(); ++k)
        HALFTONE_CHECK(slots.setInput(from[k], inputs[k]));
    return slots.setOutput(0, output);
}

} // namespace

Result<void> infer(const DeformConv &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("num_deformable_group", op.offsetGroups, 1));
    const std::size_t from[] = {0, op.weight(), op.bias()};
    HALFTONE_CHECK(inferInner(op.conv, from, slots));
    const tensor::Shape &output = slots.output(0);
    if (!output.hasRank())
        return {};
    Dim taps = op.offsetGroups;
    for (const std::int64_t extent : op.conv.kernel)
        taps = taps * extent;
    std::vector<Dim> offsets = dimsOf(output);
    offsets[1] = taps * static_cast<std::int64_t>(op.conv.kernel.size());
    HALFTONE_CHECK(slots.setInput(op.offsets(), offsets));
    offsets[1] = taps;
    return op.modulated ? slots.setInput(op.modulation(), offsets) : Result<void>();
}

Result<void> infer(const Unfold &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    const std::vector<Dim> data = dimsOf(slots.input(0));
    if (data.size() < 3)
        return slots.wrongInput(0, "rank 3 or more");
    HALFTONE_TRY(const Places places, placesOf(op, {data.begin() + 2, data.end()}));
    return slots.setOutput(0, {data[0], data[1] * places.taps, places.count});
}

Result<void> infer(const Col2Im &op, ShapeSlots &slots)
{
    for (const std::int64_t extent : op.imageShape)
        HALFTONE_CHECK(needAtLeast("image shape", extent, 1));
    HALFTONE_TRY(const Places places,
                 placesOf(op.window, {op.imageShape.begin(), op.imageShape.end()}, kMaxRank));
    HALFTONE_CHECK(slots.needRank(0, 3));
    HALFTONE_CHECK(slots.setInput(0, {Dim::unknown(), Dim::unknown(), places.count}));
    const std::vector<Dim> columns = dimsOf(slots.input(0));
    if (columns[1].isKnown() && places.taps.isKnown() && columns[1].value() % places.taps.value() != 0)
        return slots.wrongInput(0, "a multiple of the kernel's elements on axis 1");
    std::vector<Dim> output{columns[0], columns[1] / places.taps};
    output.insert(output.end(), op.imageShape.begin(), op.imageShape.end());
    return slots.setOutput(0, output);
}

Result<void> infer(const SamplingGrid &op, ShapeSlots &slots)
{
    if (op.affine) {
        HALFTONE_CHECK(needSize(op.size));
        HALFTONE_CHECK(needMatrices(slots, 0));
        HALFTONE_CHECK(slots.setOutput(0, {dimsOf(slots.input(0))[0], Dim(2), op.size[0], op.size[1]}));
        return slots.setOutput(1, {Dim(3), Dim(op.size[0]) * op.size[1]});
    }
    HALFTONE_CHECK(slots.needRank(0, 4));
    HALFTONE_CHECK(slots.setInput(0, {Dim::unknown(), Dim(2), Dim::unknown(), Dim::unknown()}));
    HALFTONE_CHECK(slots.unify(0, 0));
    std::vector<Dim> dims = dimsOf(slots.input(0));
    dims.erase(dims.begin() + 1);
    return slots.setOutput(1, dims);
}

Result<void> infer(const SpatialTransformer &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needSize(op.size));
    HALFTONE_CHECK(slots.needRank(0, 4));
    HALFTONE_CHECK(needMatrices(slots, 1));
    const std::vector<Dim> data = dimsOr(slots.input(0), 4);
    const Dim count = Dim(op.size[0]) * op.size[1];
    HALFTONE_CHECK(slots.setInput(1, {data[0], Dim(6)}));
    HALFTONE_CHECK(slots.setOutput(0, {data[0], data[1], op.size[0], op.size[1]}));
    HALFTONE_CHECK(slots.setOutput(1, {Dim(3), count}));
    return slots.setOutput(2, {data[0], Dim(2), count});
}

} // namespace halftone::ops
