#include "core/dialect/tflite/node_fields.h"
#include "core/dialect/tflite/tflite_dialect.h"

#include <array>

/// Operators that move elements.
namespace halftone::dialect::tflite {
namespace {

using ops::Operator;

std::int64_t oneOf(NodeFields &in, std::string_view key, std::size_t slot)
{
    const ops::Dims values = in.integersAt(key, slot);
    if (values.size() > 1)
        in.fail(key, std::to_string(values.size()) + " values", "one");
    return values.empty() ? 0 : values[0];
}

Operator reshape(NodeFields &in)
{
    const ops::Dims shape = in.hasInput(1) ? in.integersAt("shape", 1) : in.integers("new_shape");
    return ops::Reshape{.shape = shape, .zeroIsExtent = true};
}

Operator transpose(NodeFields &in)
{
    return ops::Transpose{in.integersAt("permutation", 1)};
}

Operator pad(NodeFields &in)
{
    return ops::Pad{ops::Pad::Mode::Constant, in.integersAt("paddings", 1), in.real("pad_value")};
}

Operator padV2(NodeFields &in)
{
    return ops::Pad{ops::Pad::Mode::Constant, in.integersAt("paddings", 1), in.realAt(2)};
}

Operator mirrorPad(NodeFields &in)
{
    if (in.text("mode") == "SYMMETRIC")
        return ops::Opaque{"MIRROR_PAD"};
    return ops::Pad{ops::Pad::Mode::Reflect, in.integersAt("paddings", 1), 0};
}

Operator concatenation(NodeFields &in)
{
    return ops::Concat{in.integer("axis"), static_cast<std::int64_t>(in.inputs())};
}

Operator pack(NodeFields &in)
{
    return ops::Stack{in.integer("axis"), static_cast<std::int64_t>(in.inputs())};
}

/// As many as the node has outputs.
std::int64_t partsOf(NodeFields &in, std::string_view key)
{
    const std::int64_t parts = in.integer(key);
    if (parts != static_cast<std::int64_t>(in.outputs()))
        in.fail(key, std::to_string(parts), std::to_string(in.outputs()) + ", as the node has outputs");
    return parts;
}

Operator unpack(NodeFields &in)
{
    ops::Split op;
    op.axis = in.integer("axis");
    op.sections = partsOf(in, "num");
    op.squeezeAxis = true;
    return op;
}

/// In a body; the first input of a file's is the axis.
Operator split(NodeFields &in)
{
    ops::Split op;
    op.axis = in.integer("axis");
    op.sections = partsOf(in, "num_splits");
    return op;
}

Operator splitV(NodeFields &in)
{
    ops::Split op;
    op.sizes = in.integersAt("sizes", 1);
    if (!in.waits() && op.sizes.size() != in.outputs())
        in.fail("sizes", std::to_string(op.sizes.size()) + " values", std::to_string(in.outputs()));
    op.axis = oneOf(in, "axis", 2);
    return op;
}

Operator expandDims(NodeFields &in)
{
    return ops::Unsqueeze{{oneOf(in, "axis", 1)}};
}

Operator squeeze(NodeFields &in)
{
    ops::Squeeze op;
    if (ops::Dims axes = in.integers("squeeze_dims"); !axes.empty())
        op.axes = std::move(axes);
    return op;
}

Operator slice(NodeFields &in)
{
    const ops::Dims begin = in.integersAt("begin", 1);
    const ops::Dims size = in.integersAt("size", 2);
    ops::Slice op;
    if (begin.size() != size.size() && !in.waits())
        in.fail("size", std::to_string(size.size()) + " values", std::to_string(begin.size()));
    for (std::size_t k = 0; k < begin.size() && k < size.size(); ++k) {
        op.begin.emplace_back(begin[k]);
        op.end.push_back(size[k] < 0 ? std::optional<std::int64_t>() : begin[k] + size[k]);
    }
    return op;
}

bool bit(std::int64_t mask, std::size_t k)
{
    return k < 32 && ((mask >> k) & 1) != 0;
}

/// Axes that are to vanish are 1 long in the result; the body drops them.
Operator stridedSlice(NodeFields &in)
{
    const ops::Dims begin = in.integersAt("begin", 1);
    const ops::Dims end = in.integersAt("end", 2);
    const ops::Dims step = in.integersAt("strides", 3);
    if (in.isSet("ellipsis_mask") || in.isSet("new_axis_mask") || in.isSet("offset"))
        return ops::Opaque{"STRIDED_SLICE"};
    ops::Slice op;
    if (in.waits())
        return op;
    if (begin.size() != end.size() || begin.size() != step.size()) {
        in.fail("end", std::to_string(end.size()) + " values", std::to_string(begin.size()));
        return op;
    }
    for (std::size_t k = 0; k < begin.size(); ++k) {
        const bool isOne = bit(in.integer("shrink_axis_mask"), k);
        const bool isOpenBegin = bit(in.integer("begin_mask"), k) && !isOne;
        const bool isOpenEnd = isOne ? begin[k] == -1 : bit(in.integer("end_mask"), k);
        op.begin.push_back(isOpenBegin ? std::optional<std::int64_t>() : begin[k]);
        op.end.push_back(isOpenEnd ? std::optional<std::int64_t>() : isOne ? begin[k] + 1 : end[k]);
        op.step.emplace_back(isOne ? 1 : step[k]);
    }
    return op;
}

Operator tile(NodeFields &in)
{
    return ops::Tile{in.integersAt("repeats", 1)};
}

Operator broadcastTo(NodeFields &in)
{
    return ops::Expand{.shape = in.integersAt("shape", 1)};
}

Operator shapeOf(NodeFields &)
{
    return ops::ShapeOf{};
}

Operator gather(NodeFields &in)
{
    if (in.isSet("batch_dims"))
        return ops::Opaque{"GATHER"};
    return ops::Gather{in.integer("axis"), ops::IndexMode::Raise};
}

Operator gatherNd(NodeFields &)
{
    return ops::GatherND{};
}

Operator depthToSpace(NodeFields &in)
{
    return ops::DepthToSpace{in.integer("block_size")};
}

Operator spaceToDepth(NodeFields &in)
{
    return ops::SpaceToDepth{in.integer("block_size")};
}

} // namespace

std::span<const OperatorRow> movementRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"RESHAPE", 1, reshape},
        OperatorRow{"TRANSPOSE", 1, transpose},
        OperatorRow{"PAD", 1, pad},
        OperatorRow{"PADV2", 3, padV2},
        OperatorRow{"MIRROR_PAD", 2, mirrorPad},
        OperatorRow{"CONCATENATION", 1, concatenation},
        OperatorRow{"PACK", 1, pack},
        OperatorRow{"UNPACK", 1, unpack},
        OperatorRow{"SPLIT", 1, split},
        OperatorRow{"SPLIT_V", 3, splitV},
        OperatorRow{"EXPAND_DIMS", 1, expandDims},
        OperatorRow{"SQUEEZE", 1, squeeze},
        OperatorRow{"SLICE", 1, slice},
        OperatorRow{"STRIDED_SLICE", 4, stridedSlice},
        OperatorRow{"TILE", 2, tile},
        OperatorRow{"BROADCAST_TO", 2, broadcastTo},
        OperatorRow{"SHAPE", 1, shapeOf},
        OperatorRow{"GATHER", 2, gather},
        OperatorRow{"GATHER_ND", 2, gatherNd},
        OperatorRow{"DEPTH_TO_SPACE", 1, depthToSpace},
        OperatorRow{"SPACE_TO_DEPTH", 1, spaceToDepth},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::tflite
