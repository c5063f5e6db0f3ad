#include "core/translate/writers.h"

#include <algorithm>
#include <array>

namespace halftone::translate {
namespace {

using ops::Dims;
using tensor::DType;

/// A reduction of everything is a vector of one element in some formats.
Value atLeastVector(NodeWriter &to, const Value &value)
{
    return to.add("Reshape", {value, to.integers("vector", {1})});
}

std::string_view reduceName(ops::Reduce::Kind kind)
{
    using Kind = ops::Reduce::Kind;
    switch (kind) {
        // clang-format off
    case Kind::Sum: return "ReduceSum";
    case Kind::Mean: return "ReduceMean";
    case Kind::Max: return "ReduceMax";
    case Kind::Min: return "ReduceMin";
    case Kind::Prod: return "ReduceProd";
    case Kind::L1: return "ReduceL1";
    case Kind::L2: return "ReduceL2";
    case Kind::LogSum: return "ReduceLogSum";
    case Kind::LogSumExp: return "ReduceLogSumExp";
    case Kind::SumSquare: return "ReduceSumSquare";
    case Kind::NanSum: case Kind::NanProd: break;
        // clang-format on
    }
    return {};
}

/// The axes that are reduced; empty: all.
Result<Dims> reducedAxes(NodeWriter &to, const Dims &axes, bool exclude)
{
    if (!exclude)
        return axes;
    HALFTONE_TRY(const std::size_t rank, to.rank());
    Dims named;
    for (const std::int64_t axis : axes) {
        HALFTONE_TRY(const std::int64_t place, to.axis(axis));
        named.push_back(place);
    }
    Dims others;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(rank); ++k)
        if (std::ranges::find(named, k) == named.end())
            others.push_back(k);
    return others;
}

/// By that operator, with its attribute for kept axes.
Result<Value> reduced(NodeWriter &to, std::string_view name, const Value &data, const Dims &axes,
                      bool keepDims, bool atLeastRank1)
{
    Values inputs{data};
    if (!axes.empty())
        inputs.push_back(to.integers("axes", axes));
    const Value value = to.add(name, inputs, {{"keepdims", keepDims ? "1" : "0"}});
    if (keepDims || !atLeastRank1)
        return value;
    if (axes.empty())
        return atLeastVector(to, value);
    HALFTONE_TRY(const std::size_t rank, to.rank());
    return axes.size() == rank ? atLeastVector(to, value) : value;
}

Result<void> writeReduce(NodeWriter &to, const ops::Reduce &op)
{
    const std::string_view name = reduceName(op.kind);
    if (name.empty())
        return to.refuse("has no counterpart in ONNX");
    HALFTONE_TRY(const Dims axes, reducedAxes(to, op.axes, op.exclude));
    if (op.eachElement || (op.exclude && axes.empty()))
        return to.refuse("reduces no axis");
    HALFTONE_TRY(
        const Value value,
        reduced(to, name, to.cast(to.in(), to.type(0), to.outType()), axes, op.keepDims, op.atLeastRank1));
    to.set(value);
    return {};
}

Result<void> writeMoments(NodeWriter &to, const ops::Moments &op)
{
    HALFTONE_TRY(const Dims axes, reducedAxes(to, op.axes, false));
    HALFTONE_TRY(const Value mean, reduced(to, "ReduceMean", to.in(), axes, true, false));
    HALFTONE_TRY(const Value shown, reduced(to, "ReduceMean", to.in(), axes, op.keepDims, op.atLeastRank1));
    const Value centred = to.add("Sub", {to.in(), mean});
    HALFTONE_TRY(
        const Value variance,
        reduced(to, "ReduceMean", to.add("Mul", {centred, centred}), axes, op.keepDims, op.atLeastRank1));
    to.set(shown, 0);
    to.set(variance, 1);
    return {};
}

Result<void> writeArgReduce(NodeWriter &to, const ops::ArgReduce &op)
{
    Value data = to.in();
    std::int64_t axis = op.perRow ? 1 : op.axis.value_or(0);
    bool keepDims = op.keepDims;
    if (!op.axis && !op.perRow) {
        if (op.keepDims)
            return to.refuse("keeps all axes");
        data = to.add("Reshape", {data, to.integers("flat", {-1})});
        keepDims = op.atLeastRank1;
        axis = 0;
    }
    Value places = to.add(op.smallest ? "ArgMin" : "ArgMax", {data},
                          {{"axis", text(axis)},
                           {"keepdims", keepDims ? "1" : "0"},
                           {"select_last_index", op.last ? "1" : "0"}});
    if (op.atLeastRank1 && !keepDims && to.shape(0).rank() == 1)
        places = atLeastVector(to, places);
    to.set(to.cast(places, DType::I64, to.outType()));
    return {};
}

/// Over all axes from the second on as one.
Value flatSoftmax(NodeWriter &to, std::string_view name)
{
    const Value rows = to.add("Flatten", {to.in()}, {{"axis", "1"}});
    const Value softmax = to.add(name, {rows}, {{"axis", "1"}});
    return to.add("Reshape", {softmax, to.add("Shape", {to.in()})});
}

Result<void> writeSoftmaxOf(NodeWriter &to, bool overAxis, std::int64_t axis)
{
    if (!overAxis) {
        HALFTONE_TRY(const std::size_t rank, to.rank());
        if (rank != 2) {
            to.set(flatSoftmax(to, "Softmax"));
            return {};
        }
        axis = 1;
    }
    to.set(to.add("Softmax", {to.in()}, {{"axis", text(axis)}}));
    return {};
}

Result<void> writeSoftmaxOutput(NodeWriter &to, const ops::SoftmaxOutput &op)
{
    return writeSoftmaxOf(to, op.multiOutput || op.preserveShape, op.multiOutput ? 1 : -1);
}

Result<void> writeSoftmaxActivation(NodeWriter &to, const ops::SoftmaxActivation &op)
{
    return writeSoftmaxOf(to, true,
                          op.channel ? 1 : -1); // of one instance: over the last axis, whatever the rank
}

Result<void> writeSoftmax(NodeWriter &to, const ops::Softmax &op)
{
    using Kind = ops::Softmax::Kind;
    if (op.useLength)
        return to.refuse("uses row lengths");
    if (op.flattened && op.axis != -1)
        return to.refuse("is over several axes");
    const DType type = to.outType();
    Value data = to.cast(to.in(), to.type(0), type);
    if (op.kind == Kind::Softmin)
        data = to.add("Neg", {data});
    if (op.temperature && *op.temperature != 1)
        data = to.add("Div", {data, to.number("temperature", *op.temperature, type)});
    const std::string_view name = op.kind == Kind::LogSoftmax ? "LogSoftmax"
        : op.kind == Kind::Hardmax                            ? "Hardmax"
                                                              : "Softmax";
    to.set(to.add(name, {data}, {{"axis", text(op.axis)}}));
    return {};
}

/// How many elements there are along an axis, as a vector.
Value extentOf(NodeWriter &to, const Value &data, std::int64_t axis)
{
    return to.add("Gather", {to.add("Shape", {data}), to.integers("extent", {axis})});
}

struct Ordered
{
    Value values = kNone;
    Value places = kNone; ///< int64
};

/// The first k of an axis in order; k below 1: all.
Result<Ordered> ordered(NodeWriter &to, std::optional<std::int64_t> along, std::int64_t k, bool ascending)
{
    Value data = to.in();
    std::int64_t axis = 0;
    if (along) {
        HALFTONE_TRY(axis, to.axis(*along));
    } else {
        data = to.add("Reshape", {data, to.integers("flat", {-1})});
    }
    const Value count = k < 1 ? extentOf(to, data, axis) : to.integers("k", {k});
    const Value first
        = to.add("TopK", {data, count}, {{"axis", text(axis)}, {"largest", ascending ? "0" : "1"}}, 2);
    return Ordered{first, {first.node, 1, 0}};
}

Result<void> writeTopK(NodeWriter &to, const ops::TopK &op)
{
    using Returns = ops::TopK::Returns;
    if (op.returns == Returns::Mask)
        return to.refuse("outputs a mask");
    HALFTONE_TRY(const Ordered first, ordered(to, op.axis, op.k, op.ascending));
    const std::size_t places = op.returns == Returns::Both ? 1 : 0;
    if (op.returns != Returns::Indices)
        to.set(first.values);
    if (op.returns != Returns::Values)
        to.set(to.cast(first.places, DType::I64, to.outType(places)), places);
    return {};
}

Result<void> writeSort(NodeWriter &to, const ops::Sort &op)
{
    HALFTONE_TRY(const Ordered all, ordered(to, op.axis, 0, op.ascending));
    to.set(all.values);
    return {};
}

Result<void> writeArgSort(NodeWriter &to, const ops::ArgSort &op)
{
    HALFTONE_TRY(const Ordered all, ordered(to, op.axis, 0, op.ascending));
    to.set(to.cast(all.places, DType::I64, to.outType()));
    return {};
}

Result<void> writeCumSum(NodeWriter &to, const ops::CumSum &op)
{
    if (op.product)
        return to.refuse("is a running product");
    Value data = to.cast(to.in(), to.type(0), to.outType());
    std::int64_t axis = 0;
    if (op.axis) {
        HALFTONE_TRY(axis, to.axis(*op.axis));
    } else {
        data = to.add("Reshape", {data, to.integers("flat", {-1})});
    }
    to.set(to.add("CumSum", {data, to.integer("axis", axis)},
                  {{"exclusive", op.exclusive ? "1" : "0"}, {"reverse", op.reverse ? "1" : "0"}}));
    return {};
}

} // namespace

std::span<const WriterRow> reductionWriters()
{
    static constexpr std::array kRows{
        writes<ops::Reduce, writeReduce>(),
        writes<ops::Moments, writeMoments>(),
        writes<ops::ArgReduce, writeArgReduce>(),
        writes<ops::SoftmaxOutput, writeSoftmaxOutput>(),
        writes<ops::SoftmaxActivation, writeSoftmaxActivation>(),
        writes<ops::Softmax, writeSoftmax>(),
        writes<ops::TopK, writeTopK>(),
        writes<ops::Sort, writeSort>(),
        writes<ops::ArgSort, writeArgSort>(),
        writes<ops::CumSum, writeCumSum>(),
    };
    return kRows;
}

} // namespace halftone::translate
