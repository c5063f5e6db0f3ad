#include "core/dialect/mxnet/describe_window.h"
#include "core/dialect/mxnet/operator_describe.h"

namespace halftone::dialect::mxnet {

void describe(OperatorFields &f, ops::Pool &op)
{
    static constexpr std::string_view kKinds[] = {"max", "avg", "sum", "lp"};
    static constexpr std::string_view kConventions[] = {"valid", "full", "same"};
    f.choice("pool_type", op.kind, kKinds);
    f.choice("pooling_convention", op.rounding, kConventions);
    f.tuple("kernel", op.kernel);
    f.tuple("stride", op.stride);
    describePad(f, op.pad);
    f.boolean("global_pool", op.global);
    f.boolean("count_include_pad", op.countPadding);
    f.optionalInteger("p_value", op.p);
    describeLayout(f, op.layout, op.kernel.size());
}

void describe(OperatorFields &f, ops::AdaptiveAveragePool &op)
{
    f.tuple("output_size", op.outputSize);
}

void describe(OperatorFields &f, ops::Upsample &op)
{
    static constexpr std::string_view kKinds[] = {"nearest", "bilinear"};
    static constexpr std::string_view kJoins[] = {"concat", "sum"};
    f.choice("sample_type", op.kind, kKinds);
    f.choice("multi_input_mode", op.join, kJoins);
    f.integer("scale", op.scale);
    f.integer("num_filter", op.filters);
    f.integer("num_args", op.inputs);
}

void describe(OperatorFields &f, ops::BilinearResize &op)
{
    static constexpr std::string_view kModes[]
        = {"size", "odd_scale", "like", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"};
    f.choice("mode", op.target, kModes);
    f.integer("height", op.height);
    f.integer("width", op.width);
    f.optionalReal("scale_height", op.scaleHeight);
    f.optionalReal("scale_width", op.scaleWidth);
    f.boolean("align_corners", op.alignCorners);
}

void describe(OperatorFields &f, ops::Crop &op)
{
    f.integer("num_args", op.inputs);
    f.tuple("offset", op.offset);
    f.tuple("h_w", op.size);
    f.boolean("center_crop", op.center);
}

void describe(OperatorFields &f, ops::RoiPool &op)
{
    f.tuple("pooled_size", op.pooledSize);
    f.real("spatial_scale", op.spatialScale);
    f.integer("sample_ratio", op.sampleRatio);
    f.boolean("position_sensitive", op.positionSensitive);
    f.boolean("aligned", op.aligned);
}

void describe(OperatorFields &f, ops::BoxPrior &op)
{
    f.realTuple("sizes", op.sizes);
    f.realTuple("ratios", op.ratios);
    f.realTuple("steps", op.steps);
    f.realTuple("offsets", op.offsets);
    f.boolean("clip", op.clip);
}

void describe(OperatorFields &f, ops::BoxDetection &op)
{
    f.boolean("clip", op.clip);
    f.real("threshold", op.threshold);
    f.integer("background_id", op.backgroundId);
    f.real("nms_threshold", op.nmsThreshold);
    f.boolean("force_suppress", op.forceSuppress);
    f.realTuple("variances", op.variances);
    f.integer("nms_topk", op.nmsTopK);
}

void describe(OperatorFields &f, ops::BoxTarget &op)
{
    f.real("overlap_threshold", op.overlapThreshold);
    f.real("ignore_label", op.ignoreLabel);
    f.real("negative_mining_ratio", op.negativeMiningRatio);
    f.real("negative_mining_thresh", op.negativeMiningThreshold);
    f.integer("minimum_negative_samples", op.minimumNegatives);
    f.realTuple("variances", op.variances);
}

namespace {

constexpr std::string_view kBoxForms[] = {"corner", "center"};

} // namespace

void describe(OperatorFields &f, ops::BoxNms &op)
{
    f.real("overlap_thresh", op.overlapThreshold);
    f.real("valid_thresh", op.validThreshold);
    f.integer("topk", op.topK);
    f.integer("coord_start", op.coordStart);
    f.integer("score_index", op.scoreIndex);
    f.integer("id_index", op.idIndex);
    f.integer("background_id", op.backgroundId);
    f.boolean("force_suppress", op.forceSuppress);
    f.choice("in_format", op.inForm, kBoxForms);
    f.choice("out_format", op.outForm, kBoxForms);
}

void describe(OperatorFields &f, ops::BoxIou &op)
{
    f.choice("format", op.form, kBoxForms);
}

} // namespace halftone::dialect::mxnet
