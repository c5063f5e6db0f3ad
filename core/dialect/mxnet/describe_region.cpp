#include "core/dialect/mxnet/describe_window.h"
#include "core/dialect/mxnet/operator_describe.h"

namespace halftone::dialect::mxnet {

void describe(OperatorFields &f, ops::BoxDecode &op)
{
    static constexpr std::string_view kKeys[] = {"std0", "std1", "std2", "std3"};
    static constexpr std::string_view kForms[] = {"corner", "center"};
    op.variances.resize(std::size(kKeys), 1);
    for (std::size_t i = 0; i < std::size(kKeys); ++i)
        f.real(kKeys[i], op.variances[i]);
    f.real("clip", op.clip);
    f.choice("format", op.anchorForm, kForms);
}

void describe(OperatorFields &, ops::BoxEncode &) { }

void describe(OperatorFields &f, ops::BoxMatch &op)
{
    f.boolean("is_ascend", op.ascending);
    f.real("threshold", op.threshold);
    f.integer("topk", op.topK);
}

void describe(OperatorFields &f, ops::Proposal &op)
{
    f.integer("rpn_pre_nms_top_n", op.before);
    f.integer("rpn_post_nms_top_n", op.after);
    f.real("threshold", op.threshold);
    f.integer("rpn_min_size", op.leastSize);
    f.realTuple("scales", op.scales);
    f.realTuple("ratios", op.ratios);
    f.integer("feature_stride", op.stride);
    f.boolean("output_score", op.outputScore);
    f.boolean("iou_loss", op.iouLoss);
}

void describe(OperatorFields &f, ops::PositionPool &op)
{
    f.integer("output_dim", op.outputChannels);
    f.integer("pooled_size", op.size);
    f.integer("group_size", op.groups);
    f.real("spatial_scale", op.spatialScale);
    if (!op.deformable)
        return;
    bool none = !op.hasOffsets;
    f.boolean("no_trans", none);
    op.hasOffsets = !none;
    f.integer("part_size", op.parts);
    f.integer("sample_per_part", op.samples);
    f.real("trans_std", op.offsetScale);
}

void describe(OperatorFields &f, ops::RotatedRoiAlign &op)
{
    f.tuple("pooled_size", op.pooledSize);
    f.real("spatial_scale", op.spatialScale);
    f.integer("sampling_ratio", op.sampleRatio);
}

void describe(OperatorFields &f, ops::DeformConv &op)
{
    describe(f, op.conv);
    f.integer("num_deformable_group", op.offsetGroups);
    if (op.modulated)
        f.integer("im2col_step", op.step);
}

void describe(OperatorFields &f, ops::Unfold &op)
{
    f.tuple("kernel", op.kernel);
    f.tuple("stride", op.stride);
    f.tuple("dilate", op.dilate);
    describePad(f, op.pad);
}

void describe(OperatorFields &f, ops::Col2Im &op)
{
    describe(f, op.window);
    f.tuple("output_size", op.imageShape);
}

void describe(OperatorFields &f, ops::Correlation &op)
{
    f.integer("kernel_size", op.kernel);
    f.integer("max_displacement", op.maxDisplacement);
    f.integer("stride1", op.stride1);
    f.integer("stride2", op.stride2);
    f.integer("pad_size", op.pad);
    f.boolean("is_multiply", op.multiply);
}

void describe(OperatorFields &f, ops::SamplingGrid &op)
{
    static constexpr std::string_view kTypes[] = {"affine", "warp"};
    std::size_t type = op.affine ? 0 : 1;
    f.choiceIndex("transform_type", type, kTypes);
    op.affine = type == 0;
    f.tuple("target_shape", op.size);
}

void describe(OperatorFields &, ops::GridSample &) { }

void describe(OperatorFields &f, ops::SpatialTransformer &op)
{
    // Both have one choice, which must be written.
    static constexpr std::string_view kTransforms[] = {"affine"};
    static constexpr std::string_view kSamplers[] = {"bilinear"};
    std::size_t only = 0;
    f.choiceIndex("transform_type", only, kTransforms);
    f.choiceIndex("sampler_type", only, kSamplers);
    f.tuple("target_shape", op.size);
}

void describe(OperatorFields &f, ops::Picture &op)
{
    using Kind = ops::Picture::Kind;
    if (op.kind == Kind::Normalize) {
        f.realTuple("mean", op.mean);
        f.realTuple("std", op.deviation);
    } else if (op.kind == Kind::Resize) {
        f.tuple("size", op.size);
        f.boolean("keep_ratio", op.keepRatio);
        f.integer("interp", op.interpolation);
    } else if (op.kind == Kind::Crop) {
        f.integer("x", op.x);
        f.integer("y", op.y);
        f.integer("width", op.width);
        f.integer("height", op.height);
    }
}

} // namespace halftone::dialect::mxnet
