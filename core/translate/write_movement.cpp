#include "core/translate/writers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

namespace halftone::translate {
namespace {

using ops::Dims;

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBeforeBegin = std::numeric_limits<std::int64_t>::min() + 1;

Result<void> writeConcat(NodeWriter &to, const ops::Concat &op)
{
    to.set(to.add("Concat", to.inputs(), {{"axis", text(op.axis)}}));
    return {};
}

Result<void> writeStack(NodeWriter &to, const ops::Stack &op)
{
    Values parts;
    for (const Value &value : to.inputs())
        parts.push_back(to.add("Unsqueeze", {value, to.integers("axes", {op.axis})}));
    to.set(to.add("Concat", parts, {{"axis", text(op.axis)}}));
    return {};
}

/// Lengths of the parts; empty: equal ones.
Result<Dims> partSizes(NodeWriter &to, const ops::Split &op)
{
    if (!op.sizes.empty() || (op.sections > 0 && !op.uneven))
        return op.sizes;
    HALFTONE_TRY(const std::int64_t axis, to.axis(op.axis));
    const std::int64_t extent = to.shape(0)[static_cast<std::size_t>(axis)];
    if (extent < 0)
        return to.unknownShape();
    Dims sizes;
    if (op.sections > 0) {
        for (std::int64_t k = 0; k < op.sections; ++k)
            sizes.push_back(extent / op.sections + (k < extent % op.sections ? 1 : 0));
        return sizes;
    }
    for (std::size_t k = 0; k < op.indices.size(); ++k)
        sizes.push_back((k + 1 < op.indices.size() ? op.indices[k + 1] : extent) - op.indices[k]);
    return sizes;
}

Result<void> writeSplit(NodeWriter &to, const ops::Split &op)
{
    HALFTONE_TRY(const Dims sizes, partSizes(to, op));
    const std::size_t count = sizes.empty() ? static_cast<std::size_t>(op.sections) : sizes.size();
    graph::Attributes attributes{{"axis", text(op.axis)}};
    Values inputs{to.in()};
    if (sizes.empty())
        attributes.set("num_outputs", text(op.sections));
    else
        inputs.push_back(to.integers("sizes", sizes));
    const Value parts = to.add("Split", inputs, std::move(attributes), count);
    for (std::size_t k = 0; k < count; ++k) {
        Value part{parts.node, static_cast<std::uint32_t>(k), 0};
        if (op.squeezeAxis)
            part = to.add("Squeeze", {part, to.integers("axes", {op.axis})});
        to.set(part, k);
    }
    return {};
}

Result<void> writeTranspose(NodeWriter &to, const ops::Transpose &op)
{
    to.set(to.add("Transpose", {to.in()},
                  op.axes.empty() ? graph::Attributes{} : graph::Attributes{{"perm", text(op.axes)}}));
    return {};
}

Result<void> writeSwapAxes(NodeWriter &to, const ops::SwapAxes &op)
{
    HALFTONE_TRY(const std::size_t rank, to.rank());
    HALFTONE_TRY(const std::int64_t first, to.axis(op.first));
    HALFTONE_TRY(const std::int64_t second, to.axis(op.second));
    Dims axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[static_cast<std::size_t>(first)], axes[static_cast<std::size_t>(second)]);
    to.set(to.add("Transpose", {to.in()}, {{"perm", text(axes)}}));
    return {};
}

Value sliced(NodeWriter &to, const Dims &begin, const Dims &end, const Dims &axes, const Dims &step)
{
    return to.add("Slice",
                  {to.in(), to.integers("starts", begin), to.integers("ends", end), to.integers("axes", axes),
                   to.integers("steps", step)});
}

Result<void> writeSlice(NodeWriter &to, const ops::Slice &op)
{
    Dims begin;
    Dims end;
    Dims step;
    for (std::size_t k = 0; k < op.begin.size(); ++k) {
        step.push_back(k < op.step.size() ? op.step[k].value_or(1) : 1);
        const bool isBackward = step.back() < 0;
        begin.push_back(op.begin[k].value_or(isBackward ? kEnd : 0));
        end.push_back(k < op.end.size() && op.end[k] ? *op.end[k] : isBackward ? kBeforeBegin : kEnd);
    }
    Dims leading(begin.size());
    std::iota(leading.begin(), leading.end(), 0);
    to.set(sliced(to, begin, end, op.axes.value_or(leading), step));
    return {};
}

Result<void> writeSliceLike(NodeWriter &to, const ops::SliceLike &op)
{
    Dims axes = op.axes;
    if (axes.empty()) {
        HALFTONE_TRY(const std::size_t rank, to.rank());
        axes.resize(rank);
        std::iota(axes.begin(), axes.end(), 0);
    }
    for (std::int64_t &axis : axes) {
        HALFTONE_TRY(axis, to.axis(axis));
    }
    const Value places = to.integers("axes", axes);
    const Value ends = to.add("Gather", {to.add("Shape", {to.in(1)}), places});
    to.set(to.add("Slice", {to.in(), to.integers("starts", Dims(axes.size(), 0)), ends, places}));
    return {};
}

Result<void> writePad(NodeWriter &to, const ops::Pad &op)
{
    using Mode = ops::Pad::Mode;
    if (op.mode == Mode::Wrap)
        return to.refuse("pads with values from the other end (wrap)");
    Dims pads;
    for (const std::size_t side : {0U, 1U})
        for (std::size_t k = side; k < op.widths.size(); k += 2)
            pads.push_back(op.widths[k]);
    if (std::ranges::all_of(pads, [](std::int64_t width) { return width == 0; })) {
        to.set(to.in());
        return {};
    }
    Values inputs{to.in(), to.integers("pads", pads)};
    if (op.mode == Mode::Constant)
        inputs.push_back(to.number("value", op.value, to.type(0)));
    to.set(to.add("Pad", inputs,
                  {{"mode",
                    op.mode == Mode::Edge          ? "edge"
                        : op.mode == Mode::Reflect ? "reflect"
                                                   : "constant"}}));
    return {};
}

Result<void> writeTile(NodeWriter &to, const ops::Tile &op)
{
    HALFTONE_TRY(const std::size_t rank, to.rank());
    Dims repeats = op.repeats;
    Value data = to.in();
    if (repeats.size() < rank)
        repeats.insert(repeats.begin(), rank - repeats.size(), 1);
    if (repeats.size() > rank) {
        Dims axes(repeats.size() - rank);
        std::iota(axes.begin(), axes.end(), 0);
        data = to.add("Unsqueeze", {data, to.integers("axes", axes)});
    }
    to.set(to.add("Tile", {data, to.integers("repeats", repeats)}));
    return {};
}

/// A new axis behind the repeated one, stretched and joined with it.
Result<void> writeRepeat(NodeWriter &to, const ops::Repeat &op)
{
    Value data = to.in();
    std::int64_t axis = 0;
    std::size_t rank = 1;
    if (op.axis) {
        HALFTONE_TRY(axis, to.axis(*op.axis));
        HALFTONE_TRY(rank, to.rank());
    } else {
        data = to.add("Reshape", {data, to.integers("vector", {-1})});
    }
    const auto place = static_cast<std::size_t>(axis);
    Dims repeats(rank + 1, 1);
    repeats[place + 1] = op.repeats;
    const Value apart = to.add("Unsqueeze", {data, to.integers("behind", {axis + 1})});
    const Value tiled = to.add("Tile", {apart, to.integers("repeats", repeats)});
    const Value before = to.add("Shape", {data}, {{"end", text(axis)}});
    const Value behind = to.add("Shape", {data}, {{"start", text(axis + 1)}});
    const Value shape = to.add("Concat", {before, to.integers("joined", {-1}), behind}, {{"axis", "0"}});
    to.set(to.add("Reshape", {tiled, shape}));
    return {};
}

Result<void> writeReverse(NodeWriter &to, const ops::Reverse &op)
{
    const std::size_t count = op.axes.size();
    to.set(sliced(to, Dims(count, -1), Dims(count, kBeforeBegin), op.axes, Dims(count, -1)));
    return {};
}

Value expanded(NodeWriter &to, Dims shape)
{
    for (std::int64_t &extent : shape)
        extent = extent == 0 ? 1 : extent;
    return to.add("Expand", {to.in(), to.integers("shape", shape)});
}

Result<void> writeExpand(NodeWriter &to, const ops::Expand &op)
{
    to.set(expanded(to, op.shape));
    return {};
}

Result<void> writeBroadcastAxes(NodeWriter &to, const ops::BroadcastAxes &op)
{
    HALFTONE_TRY(const std::size_t rank, to.rank());
    Dims shape(rank, 1);
    for (std::size_t k = 0; k < op.axes.size() && k < op.sizes.size(); ++k) {
        HALFTONE_TRY(const std::int64_t axis, to.axis(op.axes[k]));
        shape[static_cast<std::size_t>(axis)] = op.sizes[k];
    }
    to.set(expanded(to, shape));
    return {};
}

Result<void> writeBroadcastLike(NodeWriter &to, const ops::BroadcastLike &op)
{
    if (op.axes || op.likeAxes)
        return to.refuse("broadcasts axes in a way that ONNX does not support");
    to.set(to.add("Expand", {to.in(), to.add("Shape", {to.in(1)})}));
    return {};
}

Result<void> writeDepthToSpace(NodeWriter &to, const ops::DepthToSpace &op)
{
    to.set(to.add("DepthToSpace", {to.in()},
                  {{"blocksize", text(op.block)}, {"mode", op.depthFirst ? "CRD" : "DCR"}}));
    return {};
}

Result<void> writeSpaceToDepth(NodeWriter &to, const ops::SpaceToDepth &op)
{
    to.set(to.add("SpaceToDepth", {to.in()}, {{"blocksize", text(op.block)}}));
    return {};
}

} // namespace

std::span<const WriterRow> movementWriters()
{
    static constexpr std::array kRows{
        writes<ops::Concat, writeConcat>(),
        writes<ops::Stack, writeStack>(),
        writes<ops::Split, writeSplit>(),
        writes<ops::Transpose, writeTranspose>(),
        writes<ops::SwapAxes, writeSwapAxes>(),
        writes<ops::Slice, writeSlice>(),
        writes<ops::SliceLike, writeSliceLike>(),
        writes<ops::Pad, writePad>(),
        writes<ops::Tile, writeTile>(),
        writes<ops::Repeat, writeRepeat>(),
        writes<ops::Reverse, writeReverse>(),
        writes<ops::Expand, writeExpand>(),
        writes<ops::BroadcastAxes, writeBroadcastAxes>(),
        writes<ops::BroadcastLike, writeBroadcastLike>(),
        writes<ops::DepthToSpace, writeDepthToSpace>(),
        writes<ops::SpaceToDepth, writeSpaceToDepth>(),
    };
    return kRows;
}

} // namespace halftone::translate
