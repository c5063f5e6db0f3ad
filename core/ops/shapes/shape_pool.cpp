#include "core/ops/shape_rules.h"
#include "core/ops/window.h"

#include <algorithm>
#include <cmath>

namespace halftone::ops {
namespace {

Result<Dim> pooledExtent(const Pool &pool, const ShapeSlots &slots, const Window &window, std::size_t axis,
                         Dim extent)
{
    if (pool.rounding == Pool::Rounding::Same) {
        if (window.padBegin[axis] != 0 || window.padEnd[axis] != 0)
            return badAttribute("pad", "not 0", "0, since the output extent is given by the stride alone");
        return ceilDivide(extent, window.stride[axis]);
    }
    if (window.same)
        return ceilDivide(extent, window.stride[axis]);
    const Dim slack = extent + window.padding(axis) - window.reach(axis);
    if (slack.isKnown() && slack.value() < 0) {
        return slots.wrongInput(0,
                                "a padded extent of at least "
                                    + std::to_string(window.reach(axis).orUnknown())
                                    + " (the kernel) on spatial axis " + std::to_string(axis));
    }
    Dim steps = pool.rounding == Pool::Rounding::Full ? ceilDivide(slack, window.stride[axis])
                                                      : slack / window.stride[axis];
    const Dim begin = steps * window.stride[axis];
    if (pool.windowsBeginInside && begin.isKnown()
        && begin.value() >= (extent + window.padBegin[axis]).value())
        steps = steps - 1;
    return steps + 1;
}

Result<void> inferGlobal(const Pool &pool, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (dims.size() < 3)
        return slots.wrongInput(0, "rank 3 or more");
    const auto first = dims.begin() + static_cast<std::ptrdiff_t>(firstSpatialAxis(pool.layout));
    std::fill_n(first, dims.size() - 2, Dim(1));
    HALFTONE_CHECK(slots.setOutput(0, dims));
    return slots.setOutput(1, dims);
}

Result<void> needPicture(ShapeSlots &slots, std::size_t input)
{
    HALFTONE_CHECK(slots.needRank(input, 4));
    return {};
}

/// `extent` · `scale`, cut to a whole number.
Dim scaled(Dim extent, double scale)
{
    constexpr double kLargestExact = 9007199254740992.0;
    if (!extent.isKnown())
        return extent;
    const double product = static_cast<double>(extent.value()) * scale;
    if (!(product >= 0 && product < kLargestExact))
        return Dim::outOfRange();
    return static_cast<std::int64_t>(std::trunc(product));
}

Dim isOdd(Dim extent)
{
    return extent.isKnown() ? Dim(extent.value() % 2) : extent;
}

Dim resizedExtent(const BilinearResize &op, Dim extent, std::int64_t size, std::optional<double> scale)
{
    using Target = BilinearResize::Target;
    const Dim odd = isOdd(extent);
    switch (op.target) {
    case Target::Size:
        return scale ? scaled(extent, *scale) : Dim(size);
    case Target::OddScale:
        return scaled(extent - odd, scale.value_or(1)) + odd;
    case Target::ToEvenDown:
        return extent - odd;
    case Target::ToEvenUp:
        return extent + odd;
    case Target::ToOddDown:
        return extent - 1 + odd;
    case Target::ToOddUp:
        return extent + 1 - odd;
    case Target::Like:
        break;
    }
    return Dim::unknown();
}

} // namespace

Result<void> infer(const Pool &pool, ShapeSlots &slots)
{
    if (pool.global)
        return inferGlobal(pool, slots);
    HALFTONE_TRY(const Window window, makeWindow(pool.kernel, pool.stride, pool.dilate, pool.pad));
    HALFTONE_CHECK(slots.needRank(0, window.rank() + 2));
    std::vector<Dim> dims = dimsOr(slots.input(0), window.rank() + 2);
    for (std::size_t i = 0; i < window.rank(); ++i) {
        Dim &extent = dims[firstSpatialAxis(pool.layout) + i];
        HALFTONE_TRY(extent, pooledExtent(pool, slots, window, i, extent));
    }
    HALFTONE_CHECK(slots.setOutput(0, dims));
    return slots.setOutput(1, dims);
}

Result<void> infer(const AdaptiveAveragePool &op, ShapeSlots &slots)
{
    if (op.outputSize.size() > 2)
        return badAttribute("output size", std::to_string(op.outputSize.size()) + " values", "at most 2");
    HALFTONE_CHECK(needPicture(slots, 0));
    std::vector<Dim> dims = dimsOr(slots.input(0), 4);
    dims[2] = op.outputSize.empty() ? 1 : op.outputSize.front();
    dims[3] = op.outputSize.empty() ? 1 : op.outputSize.back();
    return slots.setOutput(0, dims);
}

Result<void> infer(const Upsample &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("scale", op.scale, 1));
    HALFTONE_CHECK(needPicture(slots, 0));
    std::vector<Dim> dims = dimsOr(slots.input(0), 4);
    if (op.kind == Upsample::Kind::Bilinear) {
        HALFTONE_CHECK(needAtLeast("filters", op.filters, 1));
        const Dim kernel = Dim(op.scale) * 2 - op.scale % 2;
        dims[1] = op.filters;
        HALFTONE_CHECK(slots.setInput(0, dims));
        HALFTONE_CHECK(slots.setInput(1, {dims[1], 1, kernel, kernel}));
    }
    dims[2] = dims[2] * op.scale;
    dims[3] = dims[3] * op.scale;
    for (std::size_t i = 1; op.kind == Upsample::Kind::Nearest && i < slots.inputCount(); ++i) {
        HALFTONE_CHECK(needPicture(slots, i));
        const std::vector<Dim> other = dimsOr(slots.input(i), 4);
        for (const std::size_t axis : {2, 3}) {
            if (other[axis].isKnown() && dims[axis].isKnown()
                && (other[axis].value() < 1 || dims[axis].value() % other[axis].value() != 0))
                return slots.wrongInput(i, "extents that divide " + std::to_string(dims[axis].value()));
        }
        if (op.join == Upsample::Join::Concat)
            dims[1] = dims[1] + other[1];
    }
    return slots.setOutput(0, dims);
}

Result<void> infer(const BilinearResize &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needPicture(slots, 0));
    std::vector<Dim> dims = dimsOr(slots.input(0), 4);
    if (op.target == BilinearResize::Target::Like) {
        HALFTONE_CHECK(needPicture(slots, 1));
        const std::vector<Dim> like = dimsOr(slots.input(1), 4);
        return slots.setOutput(0, {dims[0], dims[1], like[2], like[3]});
    }
    if (op.target == BilinearResize::Target::Size && !op.scaleHeight)
        HALFTONE_CHECK(needAtLeast("height", op.height, 1));
    if (op.target == BilinearResize::Target::Size && !op.scaleWidth)
        HALFTONE_CHECK(needAtLeast("width", op.width, 1));
    dims[2] = resizedExtent(op, dims[2], op.height, op.scaleHeight);
    dims[3] = resizedExtent(op, dims[3], op.width, op.scaleWidth);
    return slots.setOutput(0, dims);
}

Result<void> infer(const Crop &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needPicture(slots, 0));
    std::vector<Dim> dims = dimsOr(slots.input(0), 4);
    const bool like = op.inputs > 1;
    if (like)
        HALFTONE_CHECK(needPicture(slots, 1));
    else if (op.size.size() != 2)
        return badAttribute("size", std::to_string(op.size.size()) + " values", "2");
    if (op.offset.size() != 2)
        return badAttribute("offset", std::to_string(op.offset.size()) + " values", "2");
    for (const std::size_t i : {0, 1}) {
        const Dim extent = dims[2 + i];
        const Dim size = like ? dimsOr(slots.input(1), 4)[2 + i] : Dim(op.size[i]);
        HALFTONE_CHECK(needAtLeast("offset", op.offset[i], 0));
        const Dim rest = extent - size - (op.center ? Dim(0) : Dim(op.offset[i]));
        if (rest.isOutOfRange() || (rest.isKnown() && rest.value() < 0))
            return slots.wrongInput(0,
                                    "at least what is cut out of it, " + std::to_string(size.orUnknown())
                                        + " on axis " + std::to_string(2 + i));
        dims[2 + i] = size;
    }
    return slots.setOutput(0, dims);
}

} // namespace halftone::ops
