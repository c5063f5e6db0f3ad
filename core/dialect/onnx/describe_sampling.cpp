#include "core/dialect/onnx/operator_rows.h"
#include "core/dialect/onnx/window_fields.h"

#include <array>

/// Pictures and boxes: resizing, sampling, regions.
namespace halftone::dialect::onnx {
namespace {

using ops::Operator;
using ops::Resize;

Resize::Mode modeOf(NodeReader &in)
{
    static constexpr std::array<std::string_view, 5> kModes{"nearest", "linear", "cubic", "bilinear",
                                                            "bicubic"};
    static constexpr std::array kOfThem{Resize::Mode::Nearest, Resize::Mode::Linear, Resize::Mode::Cubic,
                                        Resize::Mode::Linear, Resize::Mode::Cubic};
    return kOfThem[in.choice("mode", kModes)];
}

/// By scales alone, each place taken from below.
Operator upsample(NodeReader &in)
{
    Resize op;
    op.mode = modeOf(in);
    op.places = Resize::Places::Asymmetric;
    op.rounding = Resize::Rounding::Down;
    op.scales = in.opset() < 9 ? in.reals("scales") : in.realsAt(1);
    return op;
}

Operator resize(NodeReader &in)
{
    using Places = Resize::Places;
    if (in.opset() < 11)
        return upsample(in);
    static constexpr std::array<std::string_view, 7> kPlaces{
        "half_pixel",    "half_pixel_symmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn",
        "align_corners", "asymmetric",           "tf_crop_and_resize"};
    static constexpr std::array kOfPlaces{
        Places::HalfPixel,    Places::HalfPixelSymmetric, Places::HalfPixelOrZero, Places::HalfPixelNearest,
        Places::AlignCorners, Places::Asymmetric,         Places::Region};
    static constexpr std::array<std::string_view, 4> kRoundings{"round_prefer_floor", "round_prefer_ceil",
                                                                "floor", "ceil"};
    static constexpr std::array kOfRoundings{Resize::Rounding::HalfDown, Resize::Rounding::HalfUp,
                                             Resize::Rounding::Down, Resize::Rounding::Up};
    static constexpr std::array<std::string_view, 4> kPolicies{"stretch", "not_larger", "not_smaller", ""};
    static constexpr std::array kOfPolicies{Resize::Proportions::Change, Resize::Proportions::KeepWithin,
                                            Resize::Proportions::KeepBeyond, Resize::Proportions::Change};
    Resize op;
    op.mode = modeOf(in);
    op.places = kOfPlaces[in.choice("coordinate_transformation_mode", kPlaces)];
    op.rounding = kOfRoundings[in.choice("nearest_mode", kRoundings)];
    op.proportions = kOfPolicies[in.choice("keep_aspect_ratio_policy", kPolicies)];
    op.axes = in.optionalIntegers("axes");
    if (op.places == Places::Region)
        op.region = in.realsAt(1);
    op.scales = in.realsAt(2);
    if (op.scales.empty())
        op.sizes = in.integersAt(3);
    op.cubicCoefficient = in.real("cubic_coeff_a", -0.75);
    op.excludeOutside = in.boolean("exclude_outside");
    op.outside = in.real("extrapolation_value");
    op.antialias = in.boolean("antialias");
    return op;
}

Operator gridSample(NodeReader &in)
{
    using Sample = ops::GridSample;
    static constexpr std::array<std::string_view, 5> kModes{"nearest", "linear", "cubic", "bilinear",
                                                            "bicubic"};
    static constexpr std::array kOfModes{Sample::Mode::Nearest, Sample::Mode::Linear, Sample::Mode::Cubic,
                                         Sample::Mode::Linear, Sample::Mode::Cubic};
    static constexpr std::array<std::string_view, 3> kEdges{"zeros", "border", "reflection"};
    static constexpr std::array kOfEdges{Sample::Outside::Zeros, Sample::Outside::Border,
                                         Sample::Outside::Reflection};
    return Sample{kOfModes[in.choice("mode", kModes)], kOfEdges[in.choice("padding_mode", kEdges)],
                  in.boolean("align_corners")};
}

Operator affineGrid(NodeReader &in)
{
    return ops::AffineGrid{in.integersAt(1), in.boolean("align_corners")};
}

/// Largest values of regions, whose corners are rounded to pixels.
Operator maxRoiPool(NodeReader &in)
{
    ops::RoiPool op;
    op.pooledSize = in.integers("pooled_shape");
    op.spatialScale = in.real("spatial_scale", 1);
    return op;
}

Operator determinant(NodeReader &)
{
    ops::LinearAlgebra op;
    op.kind = ops::LinearAlgebra::Kind::Determinant;
    op.atLeastRank1 = false;
    return op;
}

Operator roiAlign(NodeReader &in)
{
    static constexpr std::array<std::string_view, 2> kModes{"avg", "max"};
    ops::RoiAlign op;
    op.maximum = in.choice("mode", kModes) == 1;
    op.height = in.integer("output_height", 1);
    op.width = in.integer("output_width", 1);
    op.samples = in.integer("sampling_ratio", 0);
    op.spatialScale = in.real("spatial_scale", 1);
    static constexpr std::array<std::string_view, 2> kPlaces{"output_half_pixel", "half_pixel"};
    op.halfPixel = in.opset() >= 16 && in.choice("coordinate_transformation_mode", kPlaces) == 1;
    return op;
}

Operator nonMaxSuppression(NodeReader &in)
{
    ops::NonMaxSuppression op;
    op.centred = in.boolean("center_point_box");
    op.mostPerClass = in.optionalIntegerAt(2).value_or(0);
    op.overlapThreshold = in.optionalRealAt(3).value_or(0);
    op.scoreThreshold = in.optionalRealAt(4);
    return op;
}

Operator col2Im(NodeReader &in)
{
    ops::Col2Im op;
    op.imageShape = in.integersAt(1);
    op.window.kernel = in.integersAt(2);
    op.window.stride = in.integers("strides");
    op.window.dilate = in.integers("dilations");
    const ops::Dims pads = in.integers("pads");
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
    op.window.pad.begin.assign(pads.begin(), half);
    op.window.pad.end.assign(half, pads.end());
    return op;
}

} // namespace

std::span<const OperatorRow> samplingRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"Upsample", upsample},
        OperatorRow{"Resize", resize},
        OperatorRow{"GridSample", gridSample},
        OperatorRow{"AffineGrid", affineGrid},
        OperatorRow{"RoiAlign", roiAlign},
        OperatorRow{"MaxRoiPool", maxRoiPool},
        OperatorRow{"Det", determinant},
        OperatorRow{"NonMaxSuppression", nonMaxSuppression},
        OperatorRow{"Col2Im", col2Im},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
