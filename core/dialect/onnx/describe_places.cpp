#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/operator_rows.h"

#include <array>

/// Reductions, order, and operators on places that tensors name.
namespace halftone::dialect::onnx {
namespace {

using ops::Operator;
using ops::Reduce;
using ops::Softmax;

/// Axes stood in an attribute before opset 18, those of a sum before 13.
template <Reduce::Kind kind>
Operator reduce(NodeReader &in)
{
    Reduce op;
    op.kind = kind;
    op.keepDims = in.boolean("keepdims", true);
    op.axes = in.opset() < (kind == Reduce::Kind::Sum ? 13 : 18) ? in.integers("axes") : in.integersAt(1);
    op.eachElement = op.axes.empty() && in.boolean("noop_with_empty_axes");
    return op;
}

template <bool smallest>
Operator argReduce(NodeReader &in)
{
    ops::ArgReduce op;
    op.smallest = smallest;
    op.axis = in.integer("axis", 0);
    op.keepDims = in.boolean("keepdims", true);
    op.last = in.boolean("select_last_index");
    return op;
}

/// Before opset 13 over the axis and all behind it.
template <Softmax::Kind kind>
Operator softmax(NodeReader &in)
{
    Softmax op;
    op.kind = kind;
    op.flattened = in.opset() < 13 || in.has(kFlattenedKey);
    op.axis = in.integer("axis", op.flattened ? 1 : -1);
    op.spreadsNaN = true;
    return op;
}

Operator topK(NodeReader &in)
{
    ops::TopK op;
    op.returns = ops::TopK::Returns::Both;
    op.axis = in.integer("axis", -1);
    op.k = in.opset() < 10 ? in.integer("k") : in.optionalIntegerAt(1).value_or(0);
    op.ascending = !in.boolean("largest", true);
    op.indexType = tensor::DType::I64;
    if (!in.waits() && op.k < 1)
        in.fail("K", std::to_string(op.k), "1 or more");
    return op;
}

template <bool product>
Operator cumulative(NodeReader &in)
{
    ops::CumSum op;
    op.product = product;
    op.exclusive = in.boolean("exclusive");
    op.reverse = in.boolean("reverse");
    op.axis = in.optionalIntegerAt(1).value_or(0);
    return op;
}

Operator gather(NodeReader &in)
{
    return ops::Gather{in.integer("axis", 0), ops::IndexMode::Raise};
}

Operator gatherElements(NodeReader &in)
{
    return ops::GatherElements{in.integer("axis", 0)};
}

Operator gatherNd(NodeReader &in)
{
    return ops::GatherND{in.integer("batch_dims", 0)};
}

ops::ScatterRule ruleOf(NodeReader &in)
{
    static constexpr std::array<std::string_view, 6> kRules{"none", "add", "mul", "max", "min", ""};
    static constexpr std::array kOfThem{ops::ScatterRule::Replace,  ops::ScatterRule::Add,
                                        ops::ScatterRule::Multiply, ops::ScatterRule::Maximum,
                                        ops::ScatterRule::Minimum,  ops::ScatterRule::Replace};
    return kOfThem[in.choice("reduction", kRules)];
}

Operator scatterElements(NodeReader &in)
{
    return ops::ScatterElements{in.integer("axis", 0), ruleOf(in)};
}

Operator scatterNd(NodeReader &in)
{
    return ops::ScatterND{ruleOf(in)};
}

Operator tensorScatter(NodeReader &in)
{
    static constexpr std::array<std::string_view, 2> kModes{"linear", "circular"};
    return ops::TensorScatter{in.integer("axis", -2), in.choice("mode", kModes) == 1, in.hasInput(2)};
}

Operator compress(NodeReader &in)
{
    return ops::Compress{.axis = in.optionalInteger("axis")};
}

Operator nonZero(NodeReader &)
{
    return ops::NonZero{};
}

template <ops::TensorList::Kind kKind>
Operator tensorList(NodeReader &in)
{
    ops::TensorList op;
    op.kind = kKind;
    op.axis = in.integer("axis");
    op.keepsAxis = in.boolean("keepdims", true);
    op.newAxis = in.boolean("new_axis");
    if (in.has("dtype"))
        op.type = in.type("dtype");
    return op;
}

Operator oneHot(NodeReader &in)
{
    return ops::OneHot{
        .axis = in.integer("axis", -1), .depth = in.optionalIntegerAt(1).value_or(0), .hasValues = true};
}

} // namespace

std::span<const OperatorRow> placeRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"ReduceSum", reduce<Reduce::Kind::Sum>},
        OperatorRow{"ReduceMean", reduce<Reduce::Kind::Mean>},
        OperatorRow{"ReduceMax", reduce<Reduce::Kind::Max>},
        OperatorRow{"ReduceMin", reduce<Reduce::Kind::Min>},
        OperatorRow{"ReduceProd", reduce<Reduce::Kind::Prod>},
        OperatorRow{"ReduceL1", reduce<Reduce::Kind::L1>},
        OperatorRow{"ReduceL2", reduce<Reduce::Kind::L2>},
        OperatorRow{"ReduceLogSum", reduce<Reduce::Kind::LogSum>},
        OperatorRow{"ReduceLogSumExp", reduce<Reduce::Kind::LogSumExp>},
        OperatorRow{"ReduceSumSquare", reduce<Reduce::Kind::SumSquare>},
        OperatorRow{"ArgMax", argReduce<false>},
        OperatorRow{"ArgMin", argReduce<true>},
        OperatorRow{"Softmax", softmax<Softmax::Kind::Softmax>},
        OperatorRow{"LogSoftmax", softmax<Softmax::Kind::LogSoftmax>},
        OperatorRow{"Hardmax", softmax<Softmax::Kind::Hardmax>},
        OperatorRow{"TopK", topK},
        OperatorRow{"CumSum", cumulative<false>},
        OperatorRow{"CumProd", cumulative<true>},
        OperatorRow{"Gather", gather},
        OperatorRow{"GatherElements", gatherElements},
        OperatorRow{"GatherND", gatherNd},
        OperatorRow{"Scatter", scatterElements},
        OperatorRow{"ScatterElements", scatterElements},
        OperatorRow{"ScatterND", scatterNd},
        OperatorRow{"TensorScatter", tensorScatter},
        OperatorRow{"Compress", compress},
        OperatorRow{"NonZero", nonZero},
        OperatorRow{"SequenceConstruct", tensorList<ops::TensorList::Kind::Construct>},
        OperatorRow{"SequenceEmpty", tensorList<ops::TensorList::Kind::Empty>},
        OperatorRow{"SequenceAt", tensorList<ops::TensorList::Kind::At>},
        OperatorRow{"SequenceInsert", tensorList<ops::TensorList::Kind::Insert>},
        OperatorRow{"SequenceErase", tensorList<ops::TensorList::Kind::Erase>},
        OperatorRow{"SequenceLength", tensorList<ops::TensorList::Kind::Length>},
        OperatorRow{"SplitToSequence", tensorList<ops::TensorList::Kind::Split>},
        OperatorRow{"ConcatFromSequence", tensorList<ops::TensorList::Kind::Join>},
        OperatorRow{"Optional", tensorList<ops::TensorList::Kind::Maybe>},
        OperatorRow{"OptionalHasElement", tensorList<ops::TensorList::Kind::Has>},
        OperatorRow{"OptionalGetElement", tensorList<ops::TensorList::Kind::Get>},
        OperatorRow{"OneHot", oneHot},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
