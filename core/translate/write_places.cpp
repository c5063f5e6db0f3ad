#include "core/translate/writers.h"

#include <array>
#include <utility>

namespace halftone::translate {
namespace {

using tensor::DType;
using tensor::Shape;

/// Indices as integers below the extent.
Result<Value> indicesBelow(NodeWriter &to, std::size_t input, std::int64_t axis, ops::IndexMode mode)
{
    Value places = to.cast(to.in(input), to.type(input), DType::I64);
    if (mode == ops::IndexMode::Raise)
        return places;
    HALFTONE_TRY(const std::int64_t place, to.axis(axis));
    const std::int64_t extent = to.shape(0)[static_cast<std::size_t>(place)];
    if (extent < 1)
        return to.unknownShape();
    if (mode == ops::IndexMode::Wrap)
        return to.add("Mod", {places, to.integer("extent", extent)});
    return to.add("Clip", {places, to.integer("first", 0), to.integer("last", extent - 1)});
}

Result<void> writeGather(NodeWriter &to, const ops::Gather &op)
{
    HALFTONE_TRY(const Value places, indicesBelow(to, 1, op.axis, op.mode));
    to.set(to.add("Gather", {to.in(), places}, {{"axis", text(op.axis)}}));
    return {};
}

Result<void> writePick(NodeWriter &to, const ops::Pick &op)
{
    HALFTONE_TRY(const std::size_t rank, to.rank());
    HALFTONE_TRY(Value places, indicesBelow(to, 1, op.axis, op.mode));
    const Value axes = to.integers("axes", {op.axis});
    if (to.shape(1).rank() < rank)
        places = to.add("Unsqueeze", {places, axes});
    const Value picked = to.add("GatherElements", {to.in(), places}, {{"axis", text(op.axis)}});
    to.set(op.keepDims ? picked : to.add("Squeeze", {picked, axes}));
    return {};
}

/// The first axis of the indices tells the axes; here the last one does.
Result<void> writeGatherND(NodeWriter &to, const ops::GatherND &)
{
    HALFTONE_TRY(const std::size_t rank, to.rank(1));
    ops::Dims axes;
    for (std::size_t k = 1; k < rank; ++k)
        axes.push_back(static_cast<std::int64_t>(k));
    axes.push_back(0);
    const Value places = to.cast(to.in(1), to.type(1), DType::I64);
    to.set(to.add("GatherND", {to.in(), to.add("Transpose", {places}, {{"perm", text(axes)}})}));
    return {};
}

Result<void> writeCompress(NodeWriter &to, const ops::Compress &op)
{
    graph::Attributes attributes;
    if (op.axis)
        attributes.set("axis", text(*op.axis));
    to.set(to.add("Compress", {to.in(), to.cast(to.in(1), to.type(1), DType::Bool)}, std::move(attributes)));
    return {};
}

Result<void> writeOneHot(NodeWriter &to, const ops::OneHot &op)
{
    // Negative indices count from the end in ONNX; here they are off everywhere, as those beyond the depth.
    const Value places = to.cast(to.in(), to.type(0), DType::I64);
    const Value inside = to.add(
        "Where", {to.add("Less", {places, to.integer("first", 0)}), to.integer("beyond", op.depth), places});
    to.set(to.add(
        "OneHot",
        {inside, to.integer("depth", op.depth), to.numbers("values", {op.off, op.on}, op.dtype, Shape{2})}));
    return {};
}

Result<void> writeShapeOf(NodeWriter &to, const ops::ShapeOf &op)
{
    if (op.count) {
        const Value count = to.add("Size", {to.in()});
        to.set(op.isScalar ? count : to.add("Reshape", {count, to.integers("vector", {1})}));
        return {};
    }
    graph::Attributes attributes;
    if (op.begin != 0)
        attributes.set("start", text(op.begin));
    if (op.end)
        attributes.set("end", text(*op.end));
    to.set(to.add("Shape", {to.in()}, std::move(attributes)));
    return {};
}

/// A constant of a known shape.
Result<void> writeFill(NodeWriter &to, const ops::Fill &op)
{
    const Shape &shape = to.outShape();
    if (!shape.isComplete())
        return to.refuse("fills a tensor of unknown shape");
    const double value = op.kind == ops::Fill::Kind::Zeros ? 0
        : op.kind == ops::Fill::Kind::Ones                 ? 1
                                                           : op.value;
    const ops::Dims dims(shape.dims().begin(), shape.dims().end());
    to.set(to.add("Expand", {to.number("value", value, op.dtype), to.integers("shape", dims)}));
    return {};
}

Result<void> writeRange(NodeWriter &to, const ops::Range &op)
{
    const Shape &shape = to.outShape();
    if (!shape.isComplete() || shape.rank() != 1 || op.repeat < 1)
        return to.refuse("has an unknown length");
    const double start = op.stop ? op.start : op.inferLength ? op.start : 0;
    std::vector<double> values;
    for (std::int64_t k = 0; k < shape[0]; ++k)
        values.push_back(start + op.step * static_cast<double>(k / op.repeat));
    to.set(to.numbers("values", values, op.dtype, shape));
    return {};
}

} // namespace

std::span<const WriterRow> placeWriters()
{
    static constexpr std::array kRows{
        writes<ops::Gather, writeGather>(),     writes<ops::Pick, writePick>(),
        writes<ops::GatherND, writeGatherND>(), writes<ops::OneHot, writeOneHot>(),
        writes<ops::ShapeOf, writeShapeOf>(),   writes<ops::Fill, writeFill>(),
        writes<ops::Range, writeRange>(),       writes<ops::Compress, writeCompress>(),
    };
    return kRows;
}

} // namespace halftone::translate
