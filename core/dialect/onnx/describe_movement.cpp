#include "core/dialect/onnx/operator_rows.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <array>

/// Operators that put elements elsewhere.
namespace halftone::dialect::onnx {
namespace {

using ops::Operator;

/// A list that was an attribute before `opset` and is an input since then.
std::optional<ops::Dims> listOf(NodeReader &in, std::string_view key, std::size_t slot, int opset)
{
    return in.opset() < opset ? in.optionalIntegers(key) : in.optionalIntegersAt(slot);
}

Operator reshape(NodeReader &in)
{
    ops::Reshape op;
    op.shape = in.integersAt(1);
    op.zeroIsExtent = in.boolean("allowzero");
    if (std::ranges::any_of(op.shape, [](std::int64_t dim) { return dim < -1; }))
        in.fail("shape", std::to_string(std::ranges::min(op.shape)), "-1 or more");
    return op;
}

Operator flatten(NodeReader &in)
{
    return ops::Flatten{in.integer("axis", 1)};
}

Operator squeeze(NodeReader &in)
{
    return ops::Squeeze{listOf(in, "axes", 1, 13)};
}

Operator unsqueeze(NodeReader &in)
{
    return ops::Unsqueeze{listOf(in, "axes", 1, 13).value_or(ops::Dims())};
}

Operator transpose(NodeReader &in)
{
    return ops::Transpose{in.integers("perm")};
}

Operator concat(NodeReader &in)
{
    return ops::Concat{in.integer("axis", 1), static_cast<std::int64_t>(in.inputCount())};
}

Operator split(NodeReader &in)
{
    ops::Split op;
    op.axis = in.integer("axis", 0);
    if (const auto sizes = listOf(in, "split", 1, 13)) {
        op.sizes = *sizes;
        return op;
    }
    op.sections = in.integer("num_outputs", static_cast<std::int64_t>(in.outputCount()));
    op.roundUp = true;
    return op;
}

Operator slice(NodeReader &in)
{
    const auto set
        = [](ops::OptionalDims &to, const ops::Dims &from) { to.assign(from.begin(), from.end()); };
    ops::Slice op;
    op.beginsInside = true;
    set(op.begin, listOf(in, "starts", 1, 10).value_or(ops::Dims()));
    set(op.end, listOf(in, "ends", 2, 10).value_or(ops::Dims()));
    op.axes = listOf(in, "axes", 3, 10);
    if (in.opset() >= 10)
        set(op.step, in.integersAt(4));
    return op;
}

/// One number in whatever type it has.
double numberIn(const tensor::Tensor *tensor)
{
    double value = 0;
    if (tensor && tensor->elementCount() > 0)
        tensor::widen(tensor->dtype(), tensor->bytes().data(), 1, &value);
    return value;
}

Operator pad(NodeReader &in)
{
    static constexpr std::array<std::string_view, 4> kModes{"constant", "edge", "reflect", "wrap"};
    static constexpr std::array kOfThem{ops::Pad::Mode::Constant, ops::Pad::Mode::Edge,
                                        ops::Pad::Mode::Reflect, ops::Pad::Mode::Wrap};
    ops::Pad op;
    op.mode = kOfThem[in.choice("mode", kModes)];
    const ops::Dims pads = listOf(in, "pads", 1, 11).value_or(ops::Dims());
    op.value = in.opset() < 11 ? in.real("value")
        : in.hasInput(2)       ? numberIn(in.value(2))
                               : in.real("constant_value"); // of an older opset until it is written
    const std::size_t count = pads.size() / 2;
    const std::optional<ops::Dims> axes = in.opset() < 18 ? std::nullopt : in.optionalIntegersAt(3);
    if (!axes) {
        for (std::size_t i = 0; i < count; ++i)
            op.widths.insert(op.widths.end(), {pads[i], pads[count + i]});
        return op;
    }
    const tensor::Shape *const data = in.shape(0);
    if (data == nullptr)
        return op;
    const auto rank = static_cast<std::int64_t>(data->rank());
    op.widths.assign(2 * data->rank(), 0);
    for (std::size_t i = 0; i < axes->size(); ++i) {
        const std::int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
        if (axis < 0 || axis >= rank || axes->size() != count) {
            in.fail("axes", std::to_string(axes->size()) + " axes",
                    std::to_string(count) + " axes of the data");
            return op;
        }
        op.widths[static_cast<std::size_t>(2 * axis)] = pads[i];
        op.widths[static_cast<std::size_t>(2 * axis) + 1] = pads[count + i];
    }
    return op;
}

Operator tile(NodeReader &in)
{
    return ops::Tile{in.integersAt(1)};
}

Operator expand(NodeReader &in)
{
    return ops::Expand{in.integersAt(1)};
}

Operator constantOfShape(NodeReader &in)
{
    ops::Fill op;
    op.kind = ops::Fill::Kind::Value;
    op.shape = in.integersAt(0);
    const tensor::Tensor *const value = in.tensor("value");
    op.value = numberIn(value);
    op.dtype = value ? value->dtype() : tensor::DType::F32;
    if (std::ranges::any_of(op.shape, [](std::int64_t dim) { return dim < 0; }))
        in.fail("input", std::to_string(std::ranges::min(op.shape)), "extents of 0 or more");
    return op;
}

Operator range(NodeReader &in)
{
    ops::Range op;
    op.start = in.optionalRealAt(0).value_or(0);
    op.stop = in.optionalRealAt(1).value_or(0);
    op.step = in.optionalRealAt(2).value_or(1);
    op.mayBeEmpty = true;
    return op;
}

Operator shapeOf(NodeReader &in)
{
    ops::ShapeOf op;
    op.begin = in.integer("start", 0);
    op.end = in.optionalInteger("end");
    return op;
}

Operator sizeOf(NodeReader &)
{
    return ops::ShapeOf{.count = true, .isScalar = true};
}

Operator depthToSpace(NodeReader &in)
{
    static constexpr std::array<std::string_view, 2> kOrders{"DCR", "CRD"};
    const bool depthFirst = in.opset() >= 11 && in.choice("mode", kOrders) == 1;
    return ops::DepthToSpace{in.integer("blocksize", 1), depthFirst};
}

Operator spaceToDepth(NodeReader &in)
{
    return ops::SpaceToDepth{in.integer("blocksize", 1)};
}

Operator reverseSequence(NodeReader &in)
{
    ops::Sequence op;
    op.kind = ops::Sequence::Kind::Reverse;
    op.axis = in.integer("time_axis", 0);
    op.useLength = true;
    if (in.integer("batch_axis", 1) != 1 - op.axis)
        in.fail("batch_axis", std::to_string(in.integer("batch_axis", 1)), "0 or 1, and not the time axis");
    return op;
}

Operator eyeLike(NodeReader &in)
{
    return ops::EyeLike{in.integer("k", 0)};
}

Operator trilu(NodeReader &in)
{
    return ops::Trilu{in.boolean("upper", true), in.optionalIntegerAt(1).value_or(0)};
}

Operator centerCropPad(NodeReader &in)
{
    return ops::CenterCropPad{in.optionalIntegers("axes"), in.integersAt(1)};
}

} // namespace

std::span<const OperatorRow> movementRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"Reshape", reshape},
        OperatorRow{"Flatten", flatten},
        OperatorRow{"Squeeze", squeeze},
        OperatorRow{"Unsqueeze", unsqueeze},
        OperatorRow{"Transpose", transpose},
        OperatorRow{"Concat", concat},
        OperatorRow{"Split", split},
        OperatorRow{"Slice", slice},
        OperatorRow{"Pad", pad},
        OperatorRow{"Tile", tile},
        OperatorRow{"Expand", expand},
        OperatorRow{"ConstantOfShape", constantOfShape},
        OperatorRow{"Range", range},
        OperatorRow{"Shape", shapeOf},
        OperatorRow{"Size", sizeOf},
        OperatorRow{"DepthToSpace", depthToSpace},
        OperatorRow{"SpaceToDepth", spaceToDepth},
        OperatorRow{"ReverseSequence", reverseSequence},
        OperatorRow{"EyeLike", eyeLike},
        OperatorRow{"Trilu", trilu},
        OperatorRow{"CenterCropPad", centerCropPad},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
