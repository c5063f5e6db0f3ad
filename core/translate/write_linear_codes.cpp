#include "core/translate/writers.h"

#include <array>
#include <string_view>

/// Operators that ONNX has as they are: codes by scales and zero points, and resizing.
namespace halftone::translate {
namespace {

template <class T>
Result<void> writeByScales(NodeWriter &to, const T &op, std::string_view name)
{
    graph::Attributes attributes;
    if (op.block != 0)
        return to.refuse("scales of blocks");
    if (to.shape(1).rank() > 0)
        attributes.set("axis", text(op.axis));
    to.set(to.add(name, to.inputs(), std::move(attributes)));
    return {};
}

Result<void> writeQuantizeLinear(NodeWriter &to, const ops::QuantizeLinear &op)
{
    return writeByScales(to, op, "QuantizeLinear");
}

Result<void> writeDequantizeLinear(NodeWriter &to, const ops::DequantizeLinear &op)
{
    return writeByScales(to, op, "DequantizeLinear");
}

/// The sizes of all axes, where they are known: ONNX Runtime 1.32 fails on some graphs that name axes. Otherwise those of the named ones.
ops::Dims wholeSizes(const ops::Resize &op, const tensor::Shape &data)
{
    if (!op.axes || !data.isComplete() || op.axes->size() != op.sizes.size())
        return op.sizes;
    ops::Dims sizes(data.dims().begin(), data.dims().end());
    for (std::size_t k = 0; k < op.sizes.size(); ++k) {
        const std::int64_t axis = (*op.axes)[k];
        if (axis < 0 || axis >= std::ssize(sizes))
            return op.sizes;
        sizes[static_cast<std::size_t>(axis)] = op.sizes[k];
    }
    return sizes;
}

Result<void> writeResize(NodeWriter &to, const ops::Resize &op)
{
    using Places = ops::Resize::Places;
    if (op.mode == ops::Resize::Mode::Cubic || op.sizes.empty() || op.antialias
        || op.proportions != ops::Resize::Proportions::Change)
        return to.refuse("resizing of that kind");
    const bool isNearest = op.mode == ops::Resize::Mode::Nearest;
    // Rounded down half a place behind is rounded to the nearest, halves up.
    const bool isBehind = op.places == Places::HalfPixelNearest && op.rounding == ops::Resize::Rounding::Down;
    const std::string_view places = op.places == Places::AlignCorners ? "align_corners"
        : op.places == Places::HalfPixel || isBehind                  ? "half_pixel"
        : op.places == Places::Asymmetric                             ? "asymmetric"
                                                                      : "";
    if (places.empty())
        return to.refuse("resizing of that kind");
    graph::Attributes attributes{{"mode", isNearest ? "nearest" : "linear"},
                                 {"coordinate_transformation_mode", std::string(places)}};
    if (isNearest) {
        static constexpr std::array<std::string_view, 4> kRoundings{"round_prefer_floor", "round_prefer_ceil",
                                                                    "floor", "ceil"};
        const auto rounding = isBehind ? ops::Resize::Rounding::HalfUp : op.rounding;
        attributes.set("nearest_mode", std::string(kRoundings[static_cast<std::size_t>(rounding)]));
    }
    const ops::Dims sizes = wholeSizes(op, to.shape(0));
    if (op.axes && sizes.size() == op.sizes.size())
        attributes.set("axes", text(*op.axes));
    to.set(to.add("Resize", {to.in(), kNone, kNone, to.integers("sizes", sizes)}, std::move(attributes)));
    return {};
}

} // namespace

std::span<const WriterRow> linearCodeWriters()
{
    static constexpr std::array kRows{
        writes<ops::QuantizeLinear, writeQuantizeLinear>(),
        writes<ops::DequantizeLinear, writeDequantizeLinear>(),
        writes<ops::Resize, writeResize>(),
    };
    return kRows;
}

} // namespace halftone::translate
