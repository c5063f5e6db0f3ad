#include "core/dialect/tflite/node_fields.h"
#include "core/dialect/tflite/tflite_dialect.h"

#include <array>

/// Convolutions, products, poolings, reductions and resizing. Data are (batch, height, width, channels).
namespace halftone::dialect::tflite {
namespace {

using ops::Operator;

ops::Padding padding(NodeFields &in)
{
    ops::Padding pad;
    const std::string_view text = in.text("padding");
    if (text == "SAME" || text.empty()) // the first value, which files leave out
        pad.same = ops::Padding::Same::OddAtEnd;
    else if (text != "VALID")
        in.fail("padding", std::string(text), "SAME or VALID");
    return pad;
}

/// Weight: (outputs, height, width, inputs / groups).
Operator conv2d(NodeFields &in)
{
    ops::Conv op;
    op.layout = ops::Layout::ChannelsLast;
    op.stride = {in.integer("stride_h"), in.integer("stride_w")};
    op.dilate = {in.integer("dilation_h_factor", 1), in.integer("dilation_w_factor", 1)};
    op.pad = padding(in);
    op.groups = in.integer(kGroupsKey, 1);
    op.hasBias = in.hasInput(2);
    const ops::Dims weight = in.weightShape();
    if (weight.size() == 4) {
        op.outputChannels = weight[0];
        op.kernel = {weight[1], weight[2]};
    } else if (!in.waits()) {
        in.fail("filter", std::to_string(weight.size()) + " axes", "four");
    }
    return op;
}

Operator fullyConnected(NodeFields &in)
{
    ops::FullyConnected op;
    op.flatten = !in.isSet("keep_num_dims");
    op.hasBias = in.hasInput(2);
    if (in.text("weights_format") == "SHUFFLED4x16INT8")
        in.fail("weights_format", "SHUFFLED4x16INT8", "DEFAULT");
    if (const ops::Dims weight = in.weightShape(); !weight.empty())
        op.units = weight[0];
    return op;
}

Operator batchMatMul(NodeFields &in)
{
    if (in.isSet("adj_x") || in.isSet("adj_y"))
        return ops::Opaque{"BATCH_MATMUL"};
    return ops::MatMul{.form = ops::MatMul::Form::Stretched};
}

template <ops::Pool::Kind kKind>
Operator pool(NodeFields &in)
{
    ops::Pool op;
    op.kind = kKind;
    op.layout = ops::Layout::ChannelsLast;
    op.kernel = {in.integer("filter_height"), in.integer("filter_width")};
    op.stride = {in.integer("stride_h"), in.integer("stride_w")};
    op.pad = padding(in);
    op.countPadding = false;
    return op;
}

Operator softmax(NodeFields &in)
{
    ops::Softmax op;
    const double beta = in.real("beta");
    if (beta != 1 && beta != 0)
        op.temperature = 1 / beta;
    return op;
}

Operator logSoftmax(NodeFields &)
{
    return ops::Softmax{.kind = ops::Softmax::Kind::LogSoftmax};
}

Operator l2Normalization(NodeFields &)
{
    return ops::LpNormalization{};
}

template <ops::Reduce::Kind kKind>
Operator reduce(NodeFields &in)
{
    ops::Reduce op;
    op.kind = kKind;
    op.axes = in.integersAt("axes", 1);
    op.eachElement = op.axes.empty();
    op.keepDims = in.isSet("keep_dims");
    return op;
}

template <bool kSmallest>
Operator argReduce(NodeFields &in)
{
    ops::ArgReduce op;
    op.smallest = kSmallest;
    const ops::Dims axis = in.integersAt("axis", 1);
    if (axis.size() > 1)
        in.fail("axis", std::to_string(axis.size()) + " values", "one");
    else if (!axis.empty())
        op.axis = axis[0];
    return op;
}

ops::Resize resized(NodeFields &in)
{
    ops::Resize op;
    op.axes = ops::Dims{1, 2};
    op.sizes = in.integersAt("size", 1);
    op.places = in.isSet("align_corners") ? ops::Resize::Places::AlignCorners
        : in.isSet("half_pixel_centers")  ? ops::Resize::Places::HalfPixel
                                          : ops::Resize::Places::Asymmetric;
    return op;
}

Operator resizeBilinear(NodeFields &in)
{
    ops::Resize op = resized(in);
    op.mode = ops::Resize::Mode::Linear;
    return op;
}

Operator resizeNearest(NodeFields &in)
{
    ops::Resize op = resized(in);
    op.mode = ops::Resize::Mode::Nearest;
    op.rounding = op.places == ops::Resize::Places::AlignCorners ? ops::Resize::Rounding::HalfUp
                                                                 : ops::Resize::Rounding::Down;
    if (op.places == ops::Resize::Places::HalfPixel)
        op.places = ops::Resize::Places::HalfPixelNearest;
    return op;
}

} // namespace

std::span<const OperatorRow> layerRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"CONV_2D", 2, conv2d},
        OperatorRow{"FULLY_CONNECTED", 2, fullyConnected},
        OperatorRow{"BATCH_MATMUL", 2, batchMatMul},
        OperatorRow{"AVERAGE_POOL_2D", 1, pool<ops::Pool::Kind::Average>},
        OperatorRow{"MAX_POOL_2D", 1, pool<ops::Pool::Kind::Max>},
        OperatorRow{"SOFTMAX", 1, softmax},
        OperatorRow{"LOG_SOFTMAX", 1, logSoftmax},
        OperatorRow{"L2_NORMALIZATION", 1, l2Normalization},
        OperatorRow{"SUM", 1, reduce<ops::Reduce::Kind::Sum>},
        OperatorRow{"MEAN", 1, reduce<ops::Reduce::Kind::Mean>},
        OperatorRow{"REDUCE_MAX", 1, reduce<ops::Reduce::Kind::Max>},
        OperatorRow{"REDUCE_MIN", 1, reduce<ops::Reduce::Kind::Min>},
        OperatorRow{"REDUCE_PROD", 1, reduce<ops::Reduce::Kind::Prod>},
        OperatorRow{"ARG_MAX", 1, argReduce<false>},
        OperatorRow{"ARG_MIN", 1, argReduce<true>},
        OperatorRow{"RESIZE_BILINEAR", 1, resizeBilinear},
        OperatorRow{"RESIZE_NEAREST_NEIGHBOR", 1, resizeNearest},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::tflite
