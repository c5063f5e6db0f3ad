#include "core/ops/shape_rules.h"
#include "core/ops/window.h"

#include <algorithm>

namespace halftone::ops {
namespace {

Result<void> checkGroups(std::int64_t outputChannels, std::int64_t groups)
{
    HALFTONE_CHECK(needAtLeast("output channels", outputChannels, 1));
    HALFTONE_CHECK(needAtLeast("groups", groups, 1));
    if (outputChannels % groups != 0)
        return badAttribute("output channels", std::to_string(outputChannels),
                            "a multiple of " + std::to_string(groups) + " groups");
    return {};
}

Result<void> checkInputChannels(const ShapeSlots &slots, Dim channels, std::int64_t groups)
{
    if (channels.isKnown() && channels.value() % groups != 0)
        return slots.wrongInput(0, "channels in a multiple of " + std::to_string(groups) + " groups");
    return {};
}

/// (first, second, kernel…), or with the second at the end.
std::vector<Dim> weightDims(Dim first, Dim second, const Window &window, Layout layout)
{
    std::vector<Dim> dims{first};
    dims.insert(dims.end(), window.kernel.begin(), window.kernel.end());
    dims.insert(layout == Layout::ChannelsFirst ? dims.begin() + 1 : dims.end(), second);
    return dims;
}

/// A dimension that two shapes share: whichever knows it.
Dim either(Dim a, const tensor::Shape &shape, std::size_t axis)
{
    return a.isKnown() || !shape.hasRank() || axis >= shape.rank() ? a : Dim::of(shape[axis]);
}

/// What data still lacks and the output tells: the batch, and extents along which the window moves by one.
void learnFromOutput(std::vector<Dim> &data, const tensor::Shape &output, const Window &window, Layout layout)
{
    if (!output.hasRank() || output.rank() != data.size())
        return;
    data[0] = either(data[0], output, 0);
    for (std::size_t i = 0; i < window.rank(); ++i) {
        Dim &extent = data[firstSpatialAxis(layout) + i];
        if (!extent.isKnown() && window.stride[i] == 1 && !window.same)
            extent = Dim::of(output[firstSpatialAxis(layout) + i]) + window.reach(i) - 1 - window.padding(i);
    }
}

Result<std::vector<Dim>> convolved(const ShapeSlots &slots, std::vector<Dim> dims, const Window &window,
                                   Layout layout)
{
    for (std::size_t i = 0; i < window.rank(); ++i) {
        Dim &extent = dims[firstSpatialAxis(layout) + i];
        if (window.same) {
            extent = ceilDivide(extent, window.stride[i]);
            continue;
        }
        const Dim slack = extent + window.padding(i) - window.reach(i);
        if (slack.isKnown() && slack.value() < 0)
            return slots.wrongInput(0,
                                    "a padded extent of at least "
                                        + std::to_string(window.reach(i).orUnknown())
                                        + " (the dilated kernel) on spatial axis " + std::to_string(i));
        extent = slack / window.stride[i] + 1;
    }
    return dims;
}

Result<std::vector<Dim>> deconvolved(const ConvTranspose &deconv, std::vector<Dim> dims, const Window &window)
{
    const bool targeted
        = std::ranges::any_of(deconv.targetShape, [](std::int64_t extent) { return extent != 0; });
    if (targeted && deconv.targetShape.size() != window.rank())
        return badAttribute("target shape", std::to_string(deconv.targetShape.size()) + " values",
                            std::to_string(window.rank()));
    if (!deconv.outputPad.empty() && deconv.outputPad.size() != window.rank())
        return badAttribute("output padding", std::to_string(deconv.outputPad.size()) + " values",
                            std::to_string(window.rank()));
    for (std::size_t i = 0; i < window.rank(); ++i) {
        Dim &extent = dims[firstSpatialAxis(deconv.layout) + i];
        const Dim full = Dim(window.stride[i]) * (extent - 1) + window.reach(i);
        if (window.same && !targeted) { // nothing is added where a stride goes beyond the kernel
            const Dim more = deconv.outputPad.empty() ? 0 : deconv.outputPad[i];
            const Dim covered = window.reach(i) + more;
            const bool isShort = covered.isKnown() && covered.value() < window.stride[i];
            extent = isShort ? full + more : extent * window.stride[i];
            continue;
        }
        if (targeted) {
            const std::int64_t target = deconv.targetShape[i];
            HALFTONE_CHECK(needAtLeast("target shape", target, 1));
            if (full.isKnown() && full.value() < target)
                return badAttribute("target shape", std::to_string(target),
                                    "at most " + std::to_string(full.value()));
            extent = target;
            continue;
        }
        const std::int64_t outputPad = deconv.outputPad.empty() ? 0 : deconv.outputPad[i];
        if (outputPad < 0 || outputPad >= std::max(window.stride[i], window.dilate[i]))
            return badAttribute("output padding", std::to_string(outputPad),
                                "0 or more and below the stride");
        extent = full - window.padding(i) + outputPad;
    }
    return dims;
}

} // namespace

Result<void> infer(const Conv &conv, ShapeSlots &slots)
{
    HALFTONE_TRY(const Window window, makeWindow(conv.kernel, conv.stride, conv.dilate, conv.pad));
    HALFTONE_CHECK(checkGroups(conv.outputChannels, conv.groups));
    const std::size_t rank = window.rank() + 2;
    HALFTONE_CHECK(slots.needRank(0, rank));
    const std::size_t channels = channelAxis(conv.layout, window.rank());

    std::vector<Dim> data = dimsOr(slots.input(0), rank);
    learnFromOutput(data, slots.output(0), window, conv.layout);
    if (!data[channels].isKnown())
        data[channels] = either(data[channels], slots.input(1), channels) * conv.groups;
    HALFTONE_CHECK(checkInputChannels(slots, data[channels], conv.groups));
    HALFTONE_CHECK(slots.setInput(0, data));
    HALFTONE_CHECK(slots.setInput(
        1, weightDims(conv.outputChannels, data[channels] / conv.groups, window, conv.layout)));
    if (conv.hasBias)
        HALFTONE_CHECK(slots.setInput(2, {Dim(conv.outputChannels)}));
    HALFTONE_TRY(std::vector<Dim> output, convolved(slots, data, window, conv.layout));
    output[channels] = conv.outputChannels;
    return slots.setOutput(0, output);
}

Result<void> infer(const ConvTranspose &deconv, ShapeSlots &slots)
{
    HALFTONE_TRY(const Window window, makeWindow(deconv.kernel, deconv.stride, deconv.dilate, deconv.pad));
    HALFTONE_CHECK(checkGroups(deconv.outputChannels, deconv.groups));
    const std::size_t rank = window.rank() + 2;
    HALFTONE_CHECK(slots.needRank(0, rank));
    const std::size_t channels = channelAxis(deconv.layout, window.rank());

    std::vector<Dim> data = dimsOr(slots.input(0), rank);
    data[0] = either(data[0], slots.output(0), 0);
    data[channels] = either(data[channels], slots.input(1), 0);
    HALFTONE_CHECK(checkInputChannels(slots, data[channels], deconv.groups));
    HALFTONE_CHECK(slots.setInput(0, data));
    HALFTONE_CHECK(slots.setInput(
        1, weightDims(data[channels], deconv.outputChannels / deconv.groups, window, deconv.layout)));
    if (deconv.hasBias)
        HALFTONE_CHECK(slots.setInput(2, {Dim(deconv.outputChannels)}));
    HALFTONE_TRY(std::vector<Dim> output, deconvolved(deconv, data, window));
    output[channels] = deconv.outputChannels;
    return slots.setOutput(0, output);
}

} // namespace halftone::ops
