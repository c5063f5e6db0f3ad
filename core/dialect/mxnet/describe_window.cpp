#include "core/dialect/mxnet/describe_window.h"

#include <algorithm>
#include <array>

namespace halftone::dialect::mxnet {
namespace {

/// Channels first by rank, then channels last by rank.
constexpr std::array<std::string_view, 7> kLayouts{"None", "NCW", "NCHW", "NCDHW", "NWC", "NHWC", "NDHWC"};

std::size_t layoutIndex(ops::Layout layout, std::size_t spatialRank)
{
    // A global pooling may have no kernel to tell the rank; pictures are what it is for.
    const std::size_t rank = spatialRank == 0 ? 2 : std::min<std::size_t>(spatialRank, 3);
    return layout == ops::Layout::ChannelsFirst ? 0 : rank + 3;
}

} // namespace

void describePad(OperatorFields &fields, ops::Padding &pad)
{
    if (!fields.isReading() && pad.begin != pad.end)
        fields.fail("pad", "padding differs at begin and end", "the same padding");
    fields.tuple("pad", pad.begin);
    pad.end = pad.begin;
}

void describeBias(OperatorFields &fields, bool &hasBias)
{
    bool none = !hasBias;
    fields.boolean("no_bias", none);
    hasBias = !none;
}

void describeLayout(OperatorFields &fields, ops::Layout &layout, std::size_t spatialRank)
{
    std::size_t index = layoutIndex(layout, spatialRank);
    fields.choiceIndex("layout", index, kLayouts);
    if (fields.isReading() && index != 0 && spatialRank != 0 && kLayouts[index].size() != spatialRank + 2)
        fields.fail("layout", std::string(kLayouts[index]),
                    std::to_string(spatialRank + 2) + " axes, to match the kernel");
    layout = index < 4 ? ops::Layout::ChannelsFirst : ops::Layout::ChannelsLast;
}

} // namespace halftone::dialect::mxnet
