#include "core/backends/onednn/lower.h"

#include <cmath>
#include <numeric>

namespace halftone::backends::onednn {
namespace {

/// Where the axes of a transposition come from, all of them.
Dims axesOf(const ops::Transpose &transpose, std::size_t rank)
{
    Dims axes = transpose.axes;
    if (axes.empty()) {
        axes.resize(rank);
        std::iota(axes.rbegin(), axes.rend(), 0);
    }
    for (auto &axis : axes)
        axis += axis < 0 ? static_cast<dnnl::memory::dim>(rank) : 0;
    return axes;
}

Dims axesOf(const ops::SwapAxes &swap, std::size_t rank)
{
    Dims axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    const auto at = [rank](std::int64_t axis) {
        return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
    };
    std::swap(axes[at(swap.first)], axes[at(swap.second)]);
    return axes;
}

/// `lowerOp` where the node's operator is an Op.
template <class Op>
std::optional<Result<void>> lowerIf(Emitter &emitter, const plan::PlanNode &node,
                                    Result<void> (*lowerOp)(Emitter &, const plan::PlanNode &, const Op &))
{
    const auto *op = node.op.getIf<Op>();
    return op == nullptr ? std::nullopt : std::optional(lowerOp(emitter, node, *op));
}

template <class Op>
Result<void> lowerAxes(Emitter &emitter, const plan::PlanNode &node, const Op &op)
{
    return lowerTranspose(emitter, node, axesOf(op, emitter.desc(node.inputs[0]).shape.rank()));
}

template <class Op>
Result<void> lowerSameBytes(Emitter &emitter, const plan::PlanNode &node, const Op &)
{
    return lowerView(emitter, node);
}

/// The first of the functions that knows the operator.
template <class... Ops>
std::optional<Result<void>> lowerFirst(Emitter &emitter, const plan::PlanNode &node,
                                       Result<void> (*...lowerOps)(Emitter &, const plan::PlanNode &,
                                                                   const Ops &))
{
    std::optional<Result<void>> done;
    (void)((done = lowerIf(emitter, node, lowerOps)) || ...);
    return done;
}

/// Division by the root of the last extent as one by a number.
ops::Operator withRootOfWidth(const Emitter &emitter, const plan::PlanNode &node)
{
    const auto *unary = node.op.getIf<ops::Unary>();
    if (unary == nullptr || unary->kind != ops::UnaryKind::DivideBySqrtDim)
        return node.op;
    const tensor::Shape &shape = emitter.desc(node.inputs[0]).shape;
    const double width = shape.rank() == 0 ? 1 : static_cast<double>(shape[shape.rank() - 1]);
    return ops::ScalarBinary{
        .kind = ops::BinaryKind::Div, .scalar = std::sqrt(width), .scalarIsInteger = false};
}

} // namespace

std::optional<Dims> transposedAxes(const ops::Operator &op, std::size_t rank)
{
    if (const auto *transpose = op.getIf<ops::Transpose>())
        return axesOf(*transpose, rank);
    const auto *swap = op.getIf<ops::SwapAxes>();
    return swap == nullptr ? std::nullopt : std::optional(axesOf(*swap, rank));
}

Result<void> lower(Emitter &emitter, const plan::PlanNode &node)
{
    const bool takesEmpty = node.op.is<ops::Recurrence>();
    for (const plan::ValueId value : node.outputs) // kernels of no elements exist in no library
        if (!takesEmpty && emitter.desc(value).shape.isComplete()
            && emitter.desc(value).shape.elementCount() == 0)
            return unsupported("plan", "an empty tensor");
    const auto int8 = lowerFirst(
        emitter, node, &lowerFusedProduct, &lowerQuantize, &lowerDequantize, &lowerInt8Pool, &lowerInt8Relu,
        &lowerInt8Concat, &lowerInt8Binary, &lowerInt8BatchNorm, &lowerInt8Flatten, &lowerInt8Sums,
        &lowerInt8FullSums, &lowerRequantize, &lowerCodedChain, &lowerQuantizeLinear, &lowerDequantizeLinear,
        &lowerCodedSums, &lowerDynamicQuantizeLinear, &lowerCodedAverage, &lowerCodedMultiply);
    if (int8)
        return *int8;
    const auto done = lowerFirst(
        emitter, node, &lowerConv, &lowerConvTranspose, &lowerFullyConnected, &lowerMatMul, &lowerGemm,
        &lowerPool, &lowerBatchNormalization, &lowerLayerNormalization, &lowerRowAttention, &lowerRecurrence,
        &lowerReduce, &lowerLRN, &lowerSoftmax, &lowerSoftmaxActivation, &lowerBinary, &lowerJoin, &lowerCast,
        &lowerConcat, &lowerUpsample, &lowerResize, &lowerAxes<ops::Transpose>, &lowerAxes<ops::SwapAxes>,
        &lowerSameBytes<ops::Reshape>, &lowerSameBytes<ops::Flatten>, &lowerSameBytes<ops::Unsqueeze>,
        &lowerSameBytes<ops::Squeeze>);
    if (done)
        return *done;
    const tensor::DType data
        = node.inputs.empty() ? tensor::DType::Unknown : emitter.desc(node.inputs[0]).dtype;
    if (const auto eltwise = eltwiseOf(withScalarIn(data, withRootOfWidth(emitter, node))))
        return lowerElementFunction(emitter, node, *eltwise);
    return unsupported("plan", "oneDNN has nothing for " + node.opName);
}

} // namespace halftone::backends::onednn
