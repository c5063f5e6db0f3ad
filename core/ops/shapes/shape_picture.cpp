#include "core/ops/shape_rules.h"

#include <algorithm>

namespace halftone::ops {
namespace {

using Kind = Picture::Kind;

/// (height, width) after resizing to (width, height), to one number, or to one number for the shorter side.
Result<std::vector<Dim>> resized(const Picture &op, Dim height, Dim width)
{
    if (op.size.empty() || op.size.size() > 2)
        return badAttribute("size", std::to_string(op.size.size()) + " values", "1 or 2");
    for (const std::int64_t extent : op.size)
        HALFTONE_CHECK(needAtLeast("size", extent, 1));
    if (op.size.size() == 2)
        return std::vector<Dim>{op.size[1], op.size[0]};
    const Dim side = op.size[0];
    if (!op.keepRatio)
        return std::vector<Dim>{side, side};
    if (!height.isKnown() || !width.isKnown() || height.value() == 0 || width.value() == 0)
        return std::vector<Dim>{Dim::unknown(), Dim::unknown()};
    return height.value() > width.value() ? std::vector<Dim>{height * side / width, side}
                                          : std::vector<Dim>{side, width * side / height};
}

} // namespace

Result<void> infer(const Picture &op, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (dims.size() != 3 && dims.size() != 4)
        return slots.wrongInput(0, "rank 3, or 4 with a batch");
    const auto at = dims.end() - 3; // height, width, channels; of Normalize channels, height, width
    switch (op.kind) {
    case Kind::ToTensor:
        std::rotate(at, at + 2, dims.end());
        break;
    case Kind::Normalize:
        if (at->isKnown() && at->value() != 1 && at->value() != 3)
            return slots.wrongInput(0, "1 or 3 channels");
        break;
    case Kind::Resize: {
        HALFTONE_TRY(const std::vector<Dim> extents, resized(op, at[0], at[1]));
        std::ranges::copy(extents, at);
        break;
    }
    case Kind::Crop:
        HALFTONE_CHECK(needAtLeast("width", op.width, 1));
        HALFTONE_CHECK(needAtLeast("height", op.height, 1));
        for (const auto &[extent, end] :
             {std::pair(at[0], Dim(op.y) + op.height), std::pair(at[1], Dim(op.x) + op.width)}) {
            if (end.isOutOfRange() || (extent.isKnown() && extent.value() < end.value()))
                return slots.wrongInput(0, "a picture that holds the cut-out");
        }
        at[0] = op.height;
        at[1] = op.width;
        break;
    case Kind::FlipLeftRight:
    case Kind::FlipTopBottom:
        return slots.unify(0, 0);
    }
    return slots.setOutput(0, dims);
}

} // namespace halftone::ops
