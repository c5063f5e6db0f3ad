#include "core/ops/shape_rules.h"

namespace halftone::ops {

Result<void> infer(const RoiPool &op, ShapeSlots &slots)
{
    if (op.pooledSize.size() != 2)
        return badAttribute("pooled size", std::to_string(op.pooledSize.size()) + " values", "2");
    HALFTONE_CHECK(needAtLeast("pooled size", op.pooledSize[0], 1));
    HALFTONE_CHECK(needAtLeast("pooled size", op.pooledSize[1], 1));
    HALFTONE_CHECK(slots.needRank(0, 4));
    HALFTONE_CHECK(slots.needRank(1, 2));
    HALFTONE_CHECK(slots.setInput(1, {Dim::unknown(), 5}));
    const Dim bins = Dim(op.pooledSize[0]) * op.pooledSize[1];
    const Dim channels = dimsOr(slots.input(0), 4)[1];
    const Dim regions = dimsOr(slots.input(1), 2)[0];
    const std::vector<Dim> output{regions, op.positionSensitive ? channels / bins : channels,
                                  op.pooledSize[0], op.pooledSize[1]};
    HALFTONE_CHECK(slots.setOutput(0, output));
    return op.kind == RoiPool::Kind::Max ? slots.setOutput(1, output) : Result<void>();
}

Result<void> infer(const BoxPrior &op, ShapeSlots &slots)
{
    if (op.sizes.empty() || op.ratios.empty())
        return badAttribute(op.sizes.empty() ? "sizes" : "ratios", "none", "one or more");
    HALFTONE_CHECK(slots.needRank(0, 4));
    const std::vector<Dim> data = dimsOr(slots.input(0), 4);
    const auto each = static_cast<std::int64_t>(op.sizes.size() + op.ratios.size() - 1);
    return slots.setOutput(0, {1, data[2] * data[3] * each, 4});
}

Result<void> infer(const BoxDetection &, ShapeSlots &slots)
{
    for (const std::size_t i : {0, 2})
        HALFTONE_CHECK(slots.needRank(i, 3));
    HALFTONE_CHECK(slots.needRank(1, 2));
    const std::vector<Dim> scores = dimsOr(slots.input(0), 3);
    const std::vector<Dim> anchorDims = dimsOr(slots.input(2), 3);
    const Dim anchors = scores[2].isKnown() ? scores[2] : anchorDims[1];
    HALFTONE_CHECK(slots.setInput(0, {scores[0], scores[1], anchors}));
    HALFTONE_CHECK(slots.setInput(1, {scores[0], anchors * 4}));
    HALFTONE_CHECK(slots.setInput(2, {Dim::unknown(), anchors, 4}));
    return slots.setOutput(0, {scores[0], anchors, 6});
}

Result<void> infer(const BoxTarget &, ShapeSlots &slots)
{
    for (const std::size_t i : {0, 1, 2})
        HALFTONE_CHECK(slots.needRank(i, 3));
    const Dim anchors = dimsOr(slots.input(0), 3)[1];
    const std::vector<Dim> labels = dimsOr(slots.input(1), 3);
    if (labels[2].isKnown() && labels[2].value() < 5)
        return slots.wrongInput(1, "at least 5 values in each label");
    HALFTONE_CHECK(slots.setInput(0, {1, anchors, 4}));
    HALFTONE_CHECK(slots.setInput(2, {labels[0], Dim::unknown(), anchors}));
    HALFTONE_CHECK(slots.setOutput(0, {labels[0], anchors * 4}));
    HALFTONE_CHECK(slots.setOutput(1, {labels[0], anchors * 4}));
    return slots.setOutput(2, {labels[0], anchors});
}

Result<void> infer(const BoxNms &, ShapeSlots &slots)
{
    HALFTONE_CHECK(slots.unify(0, 0));
    if (!slots.input(0).hasRank())
        return {};
    std::vector<Dim> dims = dimsOf(slots.input(0));
    if (dims.size() < 2 || (dims.back().isKnown() && dims.back().value() < 5))
        return slots.wrongInput(0, "rank 2 or more, with 5 or more values a box");
    dims.back() = 1;
    return slots.setOutput(1, dims);
}

Result<void> infer(const BoxIou &, ShapeSlots &slots)
{
    if (!slots.input(0).hasRank() || !slots.input(1).hasRank())
        return {};
    std::vector<Dim> output;
    for (const std::size_t i : {0, 1}) {
        std::vector<Dim> dims = dimsOf(slots.input(i));
        if (dims.empty() || (dims.back().isKnown() && dims.back().value() != 4))
            return slots.wrongInput(i, "4 values a box on the last axis");
        output.insert(output.end(), dims.begin(), dims.end() - 1);
    }
    return slots.setOutput(0, output);
}

} // namespace halftone::ops
