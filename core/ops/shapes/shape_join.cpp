#include "core/ops/shape_rules.h"

namespace halftone::ops {
namespace {

/// The rank that an input or the output tells.
std::optional<std::size_t> commonRank(const ShapeSlots &slots, std::size_t outputSurplus)
{
    for (std::size_t i = 0; i < slots.inputCount(); ++i) {
        if (slots.input(i).hasRank())
            return slots.input(i).rank();
    }
    if (slots.output(0).hasRank() && slots.output(0).rank() > outputSurplus)
        return slots.output(0).rank() - outputSurplus;
    return std::nullopt;
}

tensor::Shape withOpenAxis(tensor::Shape shape, std::size_t axis)
{
    if (shape.hasRank() && axis < shape.rank())
        shape[axis] = tensor::Shape::kUnknown;
    return shape;
}

/// All inputs agree on every axis but one.
Result<tensor::Shape> unifyOthers(ShapeSlots &slots, std::size_t axis, std::size_t rank)
{
    tensor::Shape common
        = slots.output(0).hasRank() ? withOpenAxis(slots.output(0), axis) : tensor::Shape::ofRank(rank);
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < slots.inputCount(); ++i) {
            HALFTONE_CHECK(slots.setInput(i, common));
            common = withOpenAxis(slots.input(i), axis);
        }
    }
    return common;
}

} // namespace

Result<void> infer(const Concat &op, ShapeSlots &slots)
{
    const std::optional<std::size_t> rank = commonRank(slots, 0);
    if (!rank || slots.inputCount() == 0)
        return {};
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, *rank));
    HALFTONE_TRY(const tensor::Shape common, unifyOthers(slots, axis, *rank));

    Dim sum = 0;
    Dim knownSum = 0;
    std::size_t openCount = 0;
    std::size_t open = 0;
    for (std::size_t i = 0; i < slots.inputCount(); ++i) {
        const Dim part = Dim::of(slots.input(i)[axis]);
        sum = sum + part;
        if (part.isKnown()) {
            knownSum = knownSum + part;
        } else {
            open = i;
            ++openCount;
        }
    }
    std::vector<Dim> dims = dimsOf(common);
    dims[axis] = sum;
    HALFTONE_CHECK(slots.setOutput(0, dims));
    if (openCount != 1)
        return {};
    dims[axis] = Dim::of(slots.output(0)[axis]) - knownSum;
    return slots.setInput(open, dims);
}

Result<void> infer(const Stack &op, ShapeSlots &slots)
{
    const std::optional<std::size_t> rank = commonRank(slots, 1);
    if (!rank || slots.inputCount() == 0)
        return {};
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, *rank + 1));
    tensor::Shape common = tensor::Shape::ofRank(*rank);
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < slots.inputCount(); ++i) {
            HALFTONE_CHECK(slots.setInput(i, common));
            common = slots.input(i);
        }
    }
    std::vector<Dim> dims = dimsOf(common);
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis),
                static_cast<std::int64_t>(slots.inputCount()));
    return slots.setOutput(0, dims);
}

namespace {

/// Extent of part `i` along the axis.
Result<Dim> partExtent(const Split &op, const ShapeSlots &slots, Dim extent, std::size_t i)
{
    if (!op.sizes.empty())
        return Dim(op.sizes[i]);
    if (op.sections > 0 && op.roundUp) {
        const Dim each = ceilDivide(extent, op.sections);
        const Dim rest = extent - each * static_cast<std::int64_t>(i);
        return each.isKnown() ? Dim(std::clamp<std::int64_t>(rest.value(), 0, each.value())) : each;
    }
    if (op.sections > 0) {
        if (!extent.isKnown())
            return extent;
        const std::int64_t surplus = extent.value() % op.sections;
        if (surplus != 0 && !op.uneven)
            return slots.wrongInput(0, "an extent in a multiple of " + std::to_string(op.sections));
        return extent / op.sections + (static_cast<std::int64_t>(i) < surplus ? 1 : 0);
    }
    const bool last = i + 1 == op.indices.size();
    const Dim begin = op.indices[i];
    const Dim end = last ? extent : Dim(op.indices[i + 1]);
    const Dim length = end - begin;
    const bool beyond = end.isKnown() && extent.isKnown() && end.value() > extent.value();
    if (begin.value() < 0 || beyond || length.isOutOfRange() || (length.isKnown() && length.value() < 1)) {
        return badAttribute("indices",
                            std::to_string(begin.value()) + " to " + std::to_string(end.orUnknown()),
                            "ascending positions inside the axis");
    }
    return length;
}

} // namespace

Result<void> infer(const Split &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("sections", op.sections, 0));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    HALFTONE_TRY(const std::size_t axis, resolveAxis(op.axis, dims.size()));
    const std::size_t parts = !op.sizes.empty() ? op.sizes.size()
        : op.sections > 0                       ? static_cast<std::size_t>(op.sections)
                                                : op.indices.size();
    const Dim extent = dims[axis];
    if (!op.sizes.empty()) {
        Dim sum = 0;
        for (const std::int64_t size : op.sizes)
            sum = size < 0 ? Dim::outOfRange() : sum + size;
        if (sum.isOutOfRange() || (extent.isKnown() && sum.value() != extent.value()))
            return badAttribute("sizes", std::to_string(sum.orUnknown()) + " together",
                                "the extent, " + std::to_string(extent.orUnknown()));
    }
    for (std::size_t i = 0; i < std::min(parts, slots.outputCount()); ++i) {
        HALFTONE_TRY(const Dim part, partExtent(op, slots, extent, i));
        std::vector<Dim> output = dims;
        output[axis] = part;
        if (op.squeezeAxis) {
            if (part.isKnown() && part.value() != 1)
                return slots.wrongInput(0,
                                        "parts of 1 on axis " + std::to_string(axis) + ", which is dropped");
            output.erase(output.begin() + static_cast<std::ptrdiff_t>(axis));
        }
        HALFTONE_CHECK(slots.setOutput(i, output));
    }
    return {};
}

} // namespace halftone::ops
