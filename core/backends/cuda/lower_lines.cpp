#include "core/backends/cuda/lower.h"
#include "core/ops/shape_slots.h"

namespace halftone::backends::cuda {
namespace {

using plan::PlanNode;

/// The node's first input along `along`, its result, and whatever else is read.
struct LineNode
{
    Lines lines;
    std::vector<BufferId> buffers;
    std::string number; ///< that is computed in
    std::vector<std::string> members{}; ///< nodes that are computed besides
};

Result<LineNode> begin(Emitter &emitter, std::vector<bool> along)
{
    const PlanNode &node = emitter.node();
    std::vector<std::string> members;
    HALFTONE_TRY(const Place from, emitter.readNarrow(node.inputs[0], members));
    if (!tensor::isFloat(from.view.dtype) || !tensor::isFloat(emitter.graph().desc(node.outputs[0]).dtype))
        return refused(node.opName + " of integers");
    if (!node.post.empty())
        return refused("post-operations of " + node.opName);
    if (countOf(from.view.dims) > kMostBlocks) // a line may be one of them alone, and is counted in 32 bits
        return refused("so many lines");
    return LineNode{{std::move(along), {from.view}, {}},
                    {from.buffer},
                    std::string(numberName(from.view.dtype)),
                    std::move(members)};
}

Result<void> end(Emitter &emitter, LineNode &line, const KernelText &kernel, BufferId to)
{
    line.buffers.push_back(to);
    emitter.launch(kernel, line.buffers, line.members);
    return {};
}

Result<void> lowerSoftmax(Emitter &emitter, std::vector<bool> along, const SoftmaxForm &form)
{
    HALFTONE_TRY(LineNode line, begin(emitter, std::move(along)));
    const Place to = emitter.write(emitter.node().outputs[0], emitter.orderOf(emitter.node().inputs[0]));
    line.lines.output = to.view;
    return end(emitter, line, softmax(line.lines, form), to.buffer);
}

Result<void> lowerSoftmax(Emitter &emitter, const ops::Softmax &op)
{
    using Kind = ops::Softmax::Kind;
    const std::size_t rank = emitter.graph().desc(emitter.node().inputs[0]).shape.rank();
    if (rank == 0 || op.useLength || op.kind == Kind::Hardmax)
        return refused("softmax of this form");
    std::vector<bool> along(rank, false);
    const std::size_t axis = fromFront(op.axis, rank);
    for (std::size_t k = axis; k < (op.flattened ? rank : axis + 1); ++k)
        along[k] = true;
    const kernels::Operation operation = operationOf(emitter.graph(), emitter.node());
    SoftmaxForm form{op.kind == Kind::LogSoftmax ? SoftmaxKind::Logarithm : SoftmaxKind::Softmax,
                     op.kind == Kind::Softmin, op.temperature.value_or(1), false};
    form.nanIsInfinite = !op.spreadsNaN && op.kind != Kind::Softmin && !op.temperature && axis + 1 == rank
        && operation.inputs[0].dtype == tensor::DType::F32
        && operation.outputs[0].dtype == tensor::DType::F32;
    return lowerSoftmax(emitter, std::move(along), form);
}

/// How each kind of reduction goes: what is joined, how, from what, and what is made of it in the end.
struct ReduceText
{
    std::string item = "x";
    std::string_view join = "join_sum";
    std::string start = "0";
    std::string last = "all";
};

std::optional<ReduceText> reduceText(ops::Reduce::Kind kind, std::int64_t count)
{
    using Kind = ops::Reduce::Kind;
    switch (kind) {
    case Kind::Sum:
        return ReduceText{};
    case Kind::Mean:
        return ReduceText{.last = "all / " + std::to_string(count)};
    case Kind::Max:
        return ReduceText{.join = "join_max", .start = "-INFINITY"};
    case Kind::Min:
        return ReduceText{.join = "join_min", .start = "INFINITY"};
    case Kind::L1:
        return ReduceText{.item = "fabs(x)"};
    case Kind::L2:
        return ReduceText{.item = "x * x", .last = "sqrt(all)"};
    case Kind::SumSquare:
        return ReduceText{.item = "x * x"};
    case Kind::LogSum:
        return ReduceText{.last = "log(all)"};
    case Kind::NanSum:
        return ReduceText{.item = "x != x ? 0 : x"};
    default: // products reach the ends of a type in an order; sums of exponents take two passes
        return std::nullopt;
    }
}

Result<void> lowerReduce(Emitter &emitter, const ops::Reduce &op)
{
    const PlanNode &node = emitter.node();
    const auto &shape = emitter.graph().desc(node.inputs[0]).shape;
    std::vector<bool> along(shape.rank(), op.axes.empty() || op.exclude);
    if (!op.axes.empty()) {
        HALFTONE_TRY(const std::vector<std::size_t> named, ops::resolveAxes(op.axes, shape.rank()));
        for (const std::size_t axis : named)
            along[axis] = !op.exclude;
    }
    if (op.eachElement)
        along.assign(shape.rank(), false);
    std::int64_t count = 1;
    Dims kept(shape.dims().begin(), shape.dims().end());
    for (std::size_t axis = 0; axis < kept.size(); ++axis) {
        if (!along[axis])
            continue;
        count *= kept[axis];
        kept[axis] = 1;
    }
    const auto text = reduceText(op.kind, count);
    if (!text || count == 0)
        return refused("a reduction of this kind");
    HALFTONE_TRY(LineNode line, begin(emitter, std::move(along)));
    const Place to = emitter.write(node.outputs[0]);
    const auto output = reshaped(to.view, kept);
    if (!output)
        return refused("a reduction to " + emitter.graph().desc(node.outputs[0]).shape.toString());
    line.lines.output = *output;
    return end(emitter, line,
               reduction(line.lines, text->item, text->join, text->start, text->last, "reduction"),
               to.buffer);
}

/// Reads gamma and beta as they stretch over the data.
Result<void> addScales(Emitter &emitter, LineNode &line, std::span<const std::size_t> inputs,
                       const std::function<std::optional<View>(const View &)> &over)
{
    for (const std::size_t k : inputs) {
        HALFTONE_TRY(const Place place, emitter.read(emitter.node().inputs[k]));
        const auto view = over(place.view);
        if (!view)
            return refused("scales of this shape");
        line.lines.inputs.push_back(*view);
        line.buffers.push_back(place.buffer);
    }
    return {};
}

std::string inverseRoot(double epsilon, const std::string &number)
{
    return "1 / sqrt(square + " + literal(epsilon, number) + ")";
}

Result<void> lowerNorm(Emitter &emitter, std::vector<bool> along, std::vector<std::size_t> scales,
                       LineNorm norm, double epsilon,
                       const std::function<std::optional<View>(const View &)> &over)
{
    HALFTONE_TRY(LineNode line, begin(emitter, std::move(along)));
    HALFTONE_CHECK(addScales(emitter, line, scales, over));
    if (norm.inverse.empty())
        norm.inverse = inverseRoot(epsilon, line.number);
    const plan::ValueId result = emitter.node().outputs[0];
    const Order order = emitter.orderOf(emitter.node().inputs[0]);
    const Place to = emitter.write(result, order);
    line.lines.output = to.view;
    const auto cast = emitter.takeCast(result, order);
    line.buffers.push_back(to.buffer);
    if (cast) {
        norm.also = cast->place.view.dtype;
        line.buffers.push_back(cast->place.buffer);
    }
    if (cast)
        line.members.insert(line.members.end(), cast->members.begin(), cast->members.end());
    emitter.launch(lineNorm(line.lines, norm, "normalisation"), line.buffers, line.members);
    return {};
}

/// A vector along one axis.
std::function<std::optional<View>(const View &)> alongAxis(const Dims &dims, std::size_t axis)
{
    return [dims, axis](const View &view) -> std::optional<View> {
        View along{view.dtype, dims, Dims(dims.size(), 0), view.offset};
        along.strides[axis] = view.strides.empty() ? 0 : view.strides[0];
        return along;
    };
}

Result<void> lowerGroupNormalization(Emitter &emitter, const ops::GroupNormalization &op)
{
    // (N, C, …) as (N, groups, C / groups, …): lines are the axes behind the groups.
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(LineNode line, begin(emitter, {}));
    Dims dims = line.lines.inputs[0].dims;
    if (dims.size() < 2 || dims[1] % op.groups != 0)
        return refused("groups that do not divide the channels");
    dims[1] /= op.groups;
    dims.insert(dims.begin() + 1, op.groups);
    const Place to = emitter.write(node.outputs[0], emitter.orderOf(node.inputs[0]));
    const auto from = reshaped(line.lines.inputs[0], dims);
    const auto output = reshaped(to.view, dims);
    if (!from || !output)
        return refused("groups of data in this layout");
    line.lines.inputs[0] = *from;
    line.lines.output = *output;
    line.lines.along.assign(dims.size(), true);
    line.lines.along[0] = line.lines.along[1] = false;
    const std::vector<std::size_t> scales{1, 2};
    HALFTONE_CHECK(addScales(emitter, line, scales, [&](const View &view) -> std::optional<View> {
        View over{view.dtype, dims, Dims(dims.size(), 0), view.offset};
        over.strides[1] = op.perChannel ? dims[2] : 1;
        over.strides[2] = op.perChannel ? 1 : 0;
        return over;
    }));
    return end(
        emitter, line,
        lineNorm(line.lines, {true, inverseRoot(op.epsilon, line.number), true, true}, "normalisation"),
        to.buffer);
}

std::optional<Result<void>> lowerNorms(Emitter &emitter, const Dims &dims)
{
    const PlanNode &node = emitter.node();
    const auto from = [&dims](std::size_t axis) {
        std::vector<bool> along(dims.size(), false);
        std::fill(along.begin() + static_cast<std::ptrdiff_t>(axis), along.end(), true);
        return along;
    };
    const auto only = [&dims](std::size_t axis) {
        std::vector<bool> along(dims.size(), false);
        along[axis] = true;
        return along;
    };
    if (const auto *norm = node.op.getIf<ops::LayerNormalization>()) {
        const std::size_t axis = fromFront(norm->axis, dims.size());
        if (norm->oneAxis)
            return lowerNorm(emitter, only(axis), {1, 2}, {}, norm->epsilon, alongAxis(dims, axis));
        std::vector<std::size_t> scales{1};
        if (norm->hasBeta)
            scales.push_back(2);
        LineNorm form;
        form.centred = norm->centred;
        form.hasBeta = norm->hasBeta;
        return lowerNorm(emitter, from(axis), scales, form, norm->epsilon,
                         [&dims](const View &view) -> std::optional<View> {
                             return view.dims.size() > dims.size() ? std::nullopt
                                                                   : std::optional(stretched(view, dims));
                         });
    }
    if (const auto *norm = node.op.getIf<ops::InstanceNormalization>(); norm && dims.size() > 2)
        return lowerNorm(emitter, from(2), {1, 2}, {}, norm->epsilon, alongAxis(dims, 1));
    if (const auto *norm = node.op.getIf<ops::GroupNormalization>())
        return lowerGroupNormalization(emitter, *norm);
    if (const auto *norm = node.op.getIf<ops::LpNormalization>(); norm && norm->p == 2) {
        const std::string number(numberName(emitter.graph().desc(node.inputs[0]).dtype));
        const std::string inverse = norm->epsilon
            ? "1 / sqrt(square * count + " + literal(*norm->epsilon, number) + ")"
            : "square == 0 ? 0 : 1 / sqrt(square * count)";
        return lowerNorm(emitter,
                         norm->toEnd ? from(static_cast<std::size_t>(norm->axis))
                                     : only(fromFront(norm->axis, dims.size())),
                         {}, {false, inverse, false, false}, 0, alongAxis(dims, 0));
    }
    return std::nullopt;
}

} // namespace

std::optional<Result<void>> lowerLines(Emitter &emitter)
{
    const PlanNode &node = emitter.node();
    if (node.inputs.empty())
        return std::nullopt;
    const auto &shape = emitter.graph().desc(node.inputs[0]).shape;
    const Dims dims(shape.dims().begin(), shape.dims().end());
    if (const auto *op = node.op.getIf<ops::Softmax>())
        return lowerSoftmax(emitter, *op);
    if (const auto *op = node.op.getIf<ops::SoftmaxActivation>(); op && dims.size() > 1) {
        std::vector<bool> along(dims.size(), false);
        along[op->channel ? 1 : dims.size() - 1] = true;
        return lowerSoftmax(emitter, std::move(along), SoftmaxForm{});
    }
    if (const auto *op = node.op.getIf<ops::Reduce>())
        return lowerReduce(emitter, *op);
    return dims.size() < 2 ? std::nullopt : lowerNorms(emitter, dims);
}

} // namespace halftone::backends::cuda
