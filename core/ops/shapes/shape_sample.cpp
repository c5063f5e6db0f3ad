#include "core/ops/resampled.h"
#include "core/ops/shape_rules.h"
#include "core/ops/window.h"

#include <algorithm>
#include <cmath>

namespace halftone::ops {

Result<std::vector<ResampledAxis>> resampledAxes(const Resize &op, const tensor::Shape &data)
{
    const std::size_t rank = data.rank();
    Dims axes = op.axes.value_or(Dims{});
    for (std::size_t axis = 0; !op.axes && axis < rank; ++axis)
        axes.push_back(static_cast<std::int64_t>(axis));
    const bool scaled = !op.scales.empty();
    if ((scaled ? op.scales.size() : op.sizes.size()) != axes.size())
        return badAttribute(scaled ? "scales" : "sizes",
                            std::to_string(scaled ? op.scales.size() : op.sizes.size()) + " values",
                            std::to_string(axes.size()) + ", one for each axis");
    if (op.places == Resize::Places::Region && op.region.size() != 2 * axes.size())
        return badAttribute("region", std::to_string(op.region.size()) + " values",
                            std::to_string(2 * axes.size()));
    HALFTONE_CHECK(resolveAxes(axes, rank));
    std::vector<ResampledAxis> result;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        HALFTONE_TRY(const std::size_t axis, resolveAxis(axes[i], rank));
        const auto extent = static_cast<double>(data[axis]);
        const double scale = scaled ? op.scales[i] : static_cast<double>(op.sizes[i]) / extent;
        ResampledAxis one{
            axis, scale,
            scaled ? static_cast<double>(std::floor(static_cast<float>(extent) * static_cast<float>(scale)))
                   : static_cast<double>(op.sizes[i]),
            0, 1};
        if (op.places == Resize::Places::Region) {
            one.begin = op.region[i];
            one.end = op.region[axes.size() + i];
        }
        result.push_back(one);
    }
    if (!scaled && op.proportions != Resize::Proportions::Change && !result.empty()) {
        const auto byScale = [](const ResampledAxis &a, const ResampledAxis &b) { return a.scale < b.scale; };
        const double common = op.proportions == Resize::Proportions::KeepWithin
            ? std::ranges::min_element(result, byScale)->scale
            : std::ranges::max_element(result, byScale)->scale;
        for (ResampledAxis &one : result) {
            one.scale = common;
            one.extent = std::floor(common * static_cast<double>(data[one.axis]) + 0.5);
        }
    }
    constexpr double kMost = 9007199254740992.0;
    for (const ResampledAxis &one : result) // written so that a NaN fails too
        if (!(one.extent >= 0 && one.extent < kMost
              && (one.scale > 0 || data[one.axis] == 0 || one.extent == 0)))
            return badAttribute(scaled ? "scales" : "sizes", std::to_string(one.scale), "a positive number");
    return result;
}

Result<void> infer(const Resize &op, ShapeSlots &slots)
{
    const tensor::Shape &data = slots.input(0);
    if (!data.hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(data);
    if (data.isComplete()) {
        HALFTONE_TRY(const std::vector<ResampledAxis> axes, resampledAxes(op, data));
        for (const ResampledAxis &one : axes)
            dims[one.axis] = static_cast<std::int64_t>(one.extent);
        return slots.setOutput(0, dims);
    }
    for (std::size_t axis = 0; axis < dims.size(); ++axis)
        if (!op.axes || std::ranges::any_of(*op.axes, [&](std::int64_t named) {
                return (named < 0 ? named + static_cast<std::int64_t>(dims.size()) : named)
                    == static_cast<std::int64_t>(axis);
            }))
            dims[axis] = Dim::unknown();
    return slots.setOutput(0, dims);
}

Result<void> infer(const GridSample &op, ShapeSlots &slots)
{
    if (!op.axesFirst && (!slots.input(0).hasRank() || !slots.input(1).hasRank()))
        return {};
    const std::size_t rank = op.axesFirst ? 4 : slots.input(0).rank();
    if (rank < 3)
        return slots.wrongInput(0, "rank 3 or more");
    HALFTONE_CHECK(slots.needRank(0, rank));
    HALFTONE_CHECK(slots.needRank(1, rank));
    std::vector<Dim> data = dimsOr(slots.input(0), rank);
    const std::vector<Dim> grid = dimsOr(slots.input(1), rank);
    const Dim axes = static_cast<std::int64_t>(rank - 2);
    std::vector<Dim> output{data[0].isKnown() ? data[0] : grid[0]};
    for (std::size_t k = 0; k < rank - 2; ++k)
        output.push_back(grid[k + (op.axesFirst ? 2 : 1)]);
    data[0] = output[0];
    std::vector<Dim> places = output;
    places.insert(op.axesFirst ? places.begin() + 1 : places.end(), axes);
    HALFTONE_CHECK(slots.setInput(1, places));
    HALFTONE_CHECK(slots.setInput(0, data));
    std::vector<Dim> scratch = output;
    scratch.push_back(axes);
    output.insert(output.begin() + 1, data[1]);
    HALFTONE_CHECK(slots.setOutput(0, output));
    return op.axesFirst ? slots.setOutput(1, scratch) : Result<void>();
}

Result<void> infer(const AffineGrid &op, ShapeSlots &slots)
{
    if (op.size.size() < 4 || op.size.size() > 5)
        return badAttribute("size", std::to_string(op.size.size()) + " values", "4 or 5");
    const auto axes = static_cast<std::int64_t>(op.size.size() - 2);
    HALFTONE_CHECK(slots.setInput(0, {Dim(op.size[0]), Dim(axes), Dim(axes + 1)}));
    std::vector<Dim> dims{Dim(op.size[0])};
    dims.insert(dims.end(), op.size.begin() + 2, op.size.end());
    dims.push_back(axes);
    return slots.setOutput(0, dims);
}

Result<void> infer(const RoiAlign &op, ShapeSlots &slots)
{
    HALFTONE_CHECK(needAtLeast("height", op.height, 1));
    HALFTONE_CHECK(needAtLeast("width", op.width, 1));
    HALFTONE_CHECK(slots.needRank(0, 4));
    HALFTONE_CHECK(slots.needRank(1, 2));
    const Dim regions = dimsOr(slots.input(1), 2)[0];
    HALFTONE_CHECK(slots.setInput(1, {regions, Dim(4)}));
    HALFTONE_CHECK(slots.setInput(2, {regions}));
    return slots.setOutput(0, {regions, dimsOr(slots.input(0), 4)[1], Dim(op.height), Dim(op.width)});
}

Result<void> infer(const MaxUnpool &op, ShapeSlots &slots)
{
    HALFTONE_TRY(const Window window, makeWindow(op.kernel, op.stride, {}, op.pad));
    const std::size_t rank = window.rank() + 2;
    HALFTONE_CHECK(slots.needRank(0, rank));
    HALFTONE_CHECK(slots.setInput(1, slots.input(0)));
    if (!op.shape.empty()) {
        if (op.shape.size() != rank)
            return badAttribute("output shape", std::to_string(op.shape.size()) + " values",
                                std::to_string(rank));
        return slots.setOutput(0, std::vector<Dim>(op.shape.begin(), op.shape.end()));
    }
    std::vector<Dim> dims = dimsOr(slots.input(0), rank);
    for (std::size_t i = 0; i < window.rank(); ++i)
        dims[2 + i] = (dims[2 + i] - 1) * window.stride[i] - window.padding(i) + window.kernel[i];
    return slots.setOutput(0, dims);
}

Result<void> infer(const NonMaxSuppression &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.needRank(0, 3));
    HALFTONE_CHECK(slots.needRank(1, 3));
    const std::vector<Dim> boxes = dimsOr(slots.input(0), 3);
    const std::vector<Dim> scores = dimsOr(slots.input(1), 3);
    HALFTONE_CHECK(slots.setInput(0, {scores[0], scores[2], Dim(4)}));
    HALFTONE_CHECK(slots.setInput(1, {boxes[0], scores[1], boxes[1]}));
    return slots.setOutput(0, {Dim::unknown(), Dim(3)});
}

} // namespace halftone::ops
