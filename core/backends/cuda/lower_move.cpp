#include "core/backends/cuda/lower.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <numeric>

namespace halftone::backends::cuda {
namespace {

using plan::PlanNode;
using plan::ValueId;

/// A copy from one view to another of the same dims.
Result<void> copy(Emitter &emitter, const View &from, BufferId source, const View &to, BufferId target,
                  std::string label)
{
    emitter.launch(elementwise(std::vector<View>{from}, to, {}, "x0", std::move(label)), {source, target});
    return {};
}

/// The result is a view of the input: copied into a dense one. (A view alone would keep the whole input alive.)
Result<void> lowerView(Emitter &emitter, const std::optional<View> &view, BufferId source, std::string label)
{
    if (!view)
        return refused("a view of data in this layout");
    const Place to = emitter.write(emitter.node().outputs[0]);
    return copy(emitter, *view, source, to.view, to.buffer, std::move(label));
}

bool keepsElements(const ops::Operator &op)
{
    return op.is<ops::Reshape>() || op.is<ops::Flatten>() || op.is<ops::Unsqueeze>() || op.is<ops::Squeeze>()
        || op.is<ops::ReshapeLike>();
}

/// Nothing moves where the elements lie in order.
Result<void> lowerReshape(Emitter &emitter)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place from, emitter.read(node.inputs[0]));
    const auto &desc = emitter.graph().desc(node.outputs[0]);
    if (const auto view = reshaped(from.view, desc.shape.dims())) {
        emitter.alias(node.outputs[0], {from.buffer, *view});
        return {};
    }
    const Place to = emitter.write(node.outputs[0]);
    const auto target = reshaped(to.view, from.view.dims);
    if (!target)
        return refused("a reshape of data in this layout");
    return copy(emitter, from.view, from.buffer, *target, to.buffer, "reorder");
}

Result<void> lowerPermuted(Emitter &emitter, const std::vector<std::size_t> &axes)
{
    HALFTONE_TRY(const Place from, emitter.read(emitter.node().inputs[0]));
    return lowerView(emitter, permuted(from.view, axes), from.buffer, "transpose");
}

Result<void> lowerTranspose(Emitter &emitter, const ops::Transpose &op)
{
    const std::size_t rank = emitter.graph().desc(emitter.node().inputs[0]).shape.rank();
    std::vector<std::size_t> axes(rank);
    if (op.axes.empty())
        std::iota(axes.rbegin(), axes.rend(), std::size_t{0});
    else
        std::ranges::transform(op.axes, axes.begin(),
                               [rank](std::int64_t axis) { return fromFront(axis, rank); });
    return lowerPermuted(emitter, axes);
}

Result<void> lowerSwap(Emitter &emitter, const ops::SwapAxes &op)
{
    const std::size_t rank = emitter.graph().desc(emitter.node().inputs[0]).shape.rank();
    std::vector<std::size_t> axes(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::swap(axes[fromFront(op.first, rank)], axes[fromFront(op.second, rank)]);
    return lowerPermuted(emitter, axes);
}

/// Each part is written where it stands in the whole.
Result<void> lowerConcat(Emitter &emitter, std::int64_t given)
{
    const PlanNode &node = emitter.node();
    const std::size_t axis = fromFront(given, emitter.graph().desc(node.outputs[0]).shape.rank());
    const Place to = emitter.write(node.outputs[0], emitter.orderOf(node.inputs[0]));
    std::int64_t at = 0;
    for (const ValueId input : node.inputs) {
        HALFTONE_TRY(const Place from, emitter.read(input));
        if (from.view.dtype != to.view.dtype)
            return refused("parts of several types");
        const std::int64_t extent = from.view.dims[axis];
        if (extent > 0)
            HALFTONE_CHECK(copy(emitter, from.view, from.buffer, sliced(to.view, axis, at, extent), to.buffer,
                                "concat"));
        at += extent;
    }
    return {};
}

Result<void> lowerStack(Emitter &emitter, const ops::Stack &op)
{
    const PlanNode &node = emitter.node();
    const std::size_t axis = fromFront(op.axis, emitter.graph().desc(node.outputs[0]).shape.rank());
    const Place to = emitter.write(node.outputs[0]);
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        HALFTONE_TRY(const Place from, emitter.read(node.inputs[k]));
        View part = sliced(to.view, axis, static_cast<std::int64_t>(k), 1);
        part.dims.erase(part.dims.begin() + static_cast<std::ptrdiff_t>(axis));
        part.strides.erase(part.strides.begin() + static_cast<std::ptrdiff_t>(axis));
        HALFTONE_CHECK(copy(emitter, from.view, from.buffer, part, to.buffer, "concat"));
    }
    return {};
}

Result<void> lowerSplit(Emitter &emitter, const ops::Split &op)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place from, emitter.read(node.inputs[0]));
    const std::size_t axis = fromFront(op.axis, from.view.dims.size());
    std::int64_t at = 0;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
        const auto &shape = emitter.graph().desc(node.outputs[k]).shape;
        const std::int64_t extent = op.squeezeAxis ? 1 : shape[axis];
        if (!op.indices.empty())
            at = op.indices[k];
        if (emitter.readsOutput(node.outputs[k]) && shape.elementCount().value_or(0) > 0) {
            View part = sliced(from.view, axis, at, extent);
            if (op.squeezeAxis) {
                part.dims.erase(part.dims.begin() + static_cast<std::ptrdiff_t>(axis));
                part.strides.erase(part.strides.begin() + static_cast<std::ptrdiff_t>(axis));
            }
            const Place to = emitter.write(node.outputs[k]);
            HALFTONE_CHECK(copy(emitter, part, from.buffer, to.view, to.buffer, "split"));
        }
        at += extent;
    }
    return {};
}

/// Where a slice that takes something begins: cut to the extent.
std::int64_t beginOf(std::optional<std::int64_t> given, std::int64_t extent, std::int64_t step)
{
    const std::int64_t last = std::max<std::int64_t>(extent - 1, 0);
    if (!given)
        return step > 0 ? 0 : last;
    return std::clamp<std::int64_t>(*given < 0 ? *given + extent : *given, 0, last);
}

/// One axis of a slice.
struct Cut
{
    std::size_t axis = 0;
    std::optional<std::int64_t> begin;
    std::int64_t step = 1;
};

std::vector<Cut> cutsOf(const ops::Operator &op, std::size_t rank)
{
    std::vector<Cut> cuts;
    if (const auto *slice = op.getIf<ops::Slice>()) {
        for (std::size_t k = 0; k < slice->begin.size(); ++k)
            cuts.push_back({slice->axes ? fromFront((*slice->axes)[k], rank) : k, slice->begin[k],
                            slice->step.empty() ? 1 : slice->step[k].value_or(1)});
    }
    return cuts;
}

/// Slices and reversals: the result's extents are known, so only begins and steps matter.
Result<void> lowerSlice(Emitter &emitter)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place from, emitter.read(node.inputs[0]));
    View view = from.view;
    const auto &shape = emitter.graph().desc(node.outputs[0]).shape;
    for (const Cut &cut : cutsOf(node.op, view.dims.size()))
        view = sliced(view, cut.axis, beginOf(cut.begin, view.dims[cut.axis], cut.step), shape[cut.axis],
                      cut.step);
    if (const auto *reverse = node.op.getIf<ops::Reverse>())
        for (const std::int64_t axis : reverse->axes) {
            const std::size_t at = fromFront(axis, view.dims.size());
            view = sliced(view, at, view.dims[at] - 1, view.dims[at], -1);
        }
    view.dims.assign(shape.dims().begin(), shape.dims().end()); // SliceLike: from the begin
    return lowerView(emitter, view, from.buffer, "slice");
}

Result<void> lowerStretch(Emitter &emitter)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place from, emitter.read(node.inputs[0]));
    const auto dims = emitter.graph().desc(node.outputs[0]).shape.dims();
    for (std::size_t k = 0; k < from.view.dims.size(); ++k)
        if (from.view.dims[k] != 1 && from.view.dims[k] != dims[dims.size() - from.view.dims.size() + k])
            return refused("a stretch of this form");
    return lowerView(emitter, stretched(from.view, dims), from.buffer, "broadcast");
}

/// (N, C, H, W) with blocks of b × b between channels and places.
Result<void> lowerBlocks(Emitter &emitter, std::int64_t block, bool toSpace, bool depthFirst)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place from, emitter.read(node.inputs[0]));
    const Dims &d = from.view.dims;
    if (d.size() != 4)
        return refused("blocks of other than four axes");
    const Place to = emitter.write(node.outputs[0]);
    const Dims cut = toSpace ? (depthFirst ? Dims{d[0], d[1] / block / block, block, block, d[2], d[3]}
                                           : Dims{d[0], block, block, d[1] / block / block, d[2], d[3]})
                             : Dims{d[0], d[1], d[2] / block, block, d[3] / block, block};
    const std::vector<std::size_t> axes = toSpace ? (depthFirst ? std::vector<std::size_t>{0, 1, 4, 2, 5, 3}
                                                                : std::vector<std::size_t>{0, 3, 4, 1, 5, 2})
                                                  : std::vector<std::size_t>{0, 3, 5, 1, 2, 4};
    const auto source = reshaped(from.view, cut);
    if (!source)
        return refused("blocks of data in this layout");
    const View moved = permuted(*source, axes);
    const auto target = reshaped(to.view, moved.dims);
    if (!target)
        return refused("blocks of data in this layout");
    return copy(emitter, moved, from.buffer, *target, to.buffer, "transpose");
}

/// A border of one value: the whole is filled, then the inside is written.
Result<void> lowerPad(Emitter &emitter, const ops::Pad &op)
{
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place from, emitter.read(node.inputs[0]));
    if (op.mode != ops::Pad::Mode::Constant
        || std::ranges::any_of(op.widths, [](std::int64_t w) { return w < 0; }))
        return refused("a pad of this mode");
    const Place to = emitter.write(node.outputs[0], emitter.orderOf(node.inputs[0]));
    emitter.launch(elementwise({}, to.view, {}, literal(op.value, numberName(to.view.dtype)), "fill"),
                   {to.buffer});
    View inside = to.view;
    for (std::size_t axis = 0; axis < inside.dims.size(); ++axis)
        inside = sliced(inside, axis, op.widths[2 * axis], from.view.dims[axis]);
    return copy(emitter, from.view, from.buffer, inside, to.buffer, "pad");
}

/// `index` text to a place within the extent. What is to be an error stays within it, too: a check of its own tells it.
std::string withinText(const std::string &index, std::int64_t extent, ops::IndexMode mode)
{
    const std::string n = std::to_string(extent);
    if (mode == ops::IndexMode::Raise)
        return "    long long at = (long long)" + index + ";\n    at = at < 0 ? at + " + n
            + " : at;\n    at = at < 0 ? 0 : at >= " + n + " ? " + n + " - 1 : at;\n";
    if (mode == ops::IndexMode::Clip)
        return "    long long at = (long long)" + index + ";\n    at = at < 0 ? 0 : at >= " + n + " ? " + n
            + " - 1 : at;\n";
    return "    long long at = (long long)" + index + " % " + n + ";\n    at = at < 0 ? at + " + n
        + " : at;\n";
}

/// Indices beside the extent are an error: told here of constants, else by a kernel of its own in every run.
Result<void> checkIndices(Emitter &emitter, ValueId indexId, const Place &index, std::int64_t extent)
{
    const PlanNode &node = emitter.node();
    const std::string where
        = (node.members.empty() ? std::string() : node.members.front() + ", ") + "input 1";
    const auto &constant = emitter.graph().values[indexId].constant;
    if (!constant) {
        const std::int64_t slot = emitter.program().nextCheck();
        emitter.program().addCheck(emitter.stepOf(node), indexCheck(index.view, extent, slot), index.buffer,
                                   where, extent);
        return {};
    }
    for (const std::int64_t value :
         tensor::integers(constant->dtype(), constant->bytes().data(), constant->elementCount()))
        if (value < -extent || value >= extent)
            return badInput(where, "index " + std::to_string(value),
                            "an index from " + std::to_string(-extent) + " to " + std::to_string(extent - 1));
    return {};
}

/// Lines of `data` along `axis`, by index: the indices' axes take the place of that one.
Result<void> lowerGather(Emitter &emitter, ValueId dataId, ValueId indexId, std::size_t axis,
                         ops::IndexMode mode)
{
    HALFTONE_TRY(const Place data, emitter.read(dataId));
    HALFTONE_TRY(const Place index, emitter.read(indexId));
    const Place to = emitter.write(emitter.node().outputs[0]);
    const std::size_t ranks = index.view.dims.size();
    const std::int64_t extent = data.view.dims[axis];
    if (extent == 0)
        return refused("indices into nothing");
    if (mode == ops::IndexMode::Raise)
        HALFTONE_CHECK(checkIndices(emitter, indexId, index, extent));
    const std::string within = withinText("num(p1[" + placeText(index.view, axis) + "])", extent, mode);
    std::string place
        = std::to_string(data.view.offset) + " + at * " + std::to_string(data.view.strides[axis]);
    for (std::size_t k = 0; k < data.view.dims.size(); ++k)
        if (k != axis)
            place += " + c" + std::to_string(k < axis ? k : k + ranks - 1) + " * "
                + std::to_string(data.view.strides[k]);
    const std::vector<tensor::DType> types{data.view.dtype, index.view.dtype};
    emitter.launch(
        perElement(types, to.view, within + "    const auto acc = num(p0[" + place + "]);\n", {}, "gather"),
        {data.buffer, index.buffer, to.buffer});
    return {};
}

} // namespace

std::optional<Result<void>> lowerMove(Emitter &emitter)
{
    const PlanNode &node = emitter.node();
    const ops::Operator &op = node.op;
    if (keepsElements(op))
        return lowerReshape(emitter);
    if (const auto *transpose = op.getIf<ops::Transpose>())
        return lowerTranspose(emitter, *transpose);
    if (const auto *swap = op.getIf<ops::SwapAxes>())
        return lowerSwap(emitter, *swap);
    if (const auto *concat = op.getIf<ops::Concat>(); concat && !concat->rnnParameters)
        return lowerConcat(emitter, concat->axis);
    if (const auto *stack = op.getIf<ops::Stack>())
        return lowerStack(emitter, *stack);
    if (const auto *split = op.getIf<ops::Split>())
        return lowerSplit(emitter, *split);
    if (op.is<ops::Slice>() || op.is<ops::Reverse>() || op.is<ops::SliceLike>())
        return lowerSlice(emitter);
    if (op.is<ops::Expand>() || op.is<ops::BroadcastAxes>())
        return lowerStretch(emitter);
    if (const auto *depth = op.getIf<ops::DepthToSpace>())
        return lowerBlocks(emitter, depth->block, true, depth->depthFirst);
    if (const auto *space = op.getIf<ops::SpaceToDepth>())
        return lowerBlocks(emitter, space->block, false, false);
    if (const auto *pad = op.getIf<ops::Pad>())
        return lowerPad(emitter, *pad);
    if (op.is<ops::Embedding>())
        return lowerGather(emitter, node.inputs[1], node.inputs[0], 0, ops::IndexMode::Clip);
    if (const auto *take = op.getIf<ops::Gather>())
        return lowerGather(emitter, node.inputs[0], node.inputs[1],
                           fromFront(take->axis, emitter.graph().desc(node.inputs[0]).shape.rank()),
                           take->mode);
    return std::nullopt;
}

} // namespace halftone::backends::cuda
