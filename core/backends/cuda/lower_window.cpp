#include "core/backends/cuda/channel_window.h"
#include "core/backends/cuda/lower.h"
#include "core/tensor/dtype.h"

#include <algorithm>
#include <limits>

namespace halftone::backends::cuda {
namespace {

using plan::PlanNode;

double lowestOf(tensor::DType type)
{
    if (!tensor::isFloat(type)) // codes of 8 bits
        return type == tensor::DType::U8 ? 0 : -128;
    return tensor::fitsFloat32(type) ? -tensor::rangeOf(type).largest : -std::numeric_limits<double>::max();
}

Result<void> lowerPool(Emitter &emitter, const ops::Pool &op)
{
    using Kind = ops::Pool::Kind;
    const PlanNode &node = emitter.node();
    HALFTONE_TRY(const Place from, emitter.read(node.inputs[0]));
    const std::size_t rank = from.view.dims.size();
    const bool isCode = from.view.dtype == tensor::DType::I8 || from.view.dtype == tensor::DType::U8;
    if (!(tensor::isFloat(from.view.dtype) || (isCode && op.kind == Kind::Max)) || rank < 3 || rank > 5
        || op.kind == Kind::Lp || (op.padsZeros && !op.global) || !node.post.empty())
        return refused("pooling of this form");
    const Place to = emitter.write(node.outputs[0], emitter.orderOf(node.inputs[0]));
    SpatialText text{{}, channelsFirst(from.view, op.layout), channelsFirst(to.view, op.layout)};
    ops::Dims kernel = op.kernel;
    if (op.global)
        kernel.assign(text.data.dims.begin() + 2, text.data.dims.end());
    if (std::ranges::find(kernel, 0) != kernel.end())
        return refused("pooling over nothing");
    HALFTONE_TRY(text.window,
                 ops::makeWindow(kernel, op.global ? ops::Dims() : op.stride,
                                 op.global ? ops::Dims() : op.dilate, op.global ? ops::Padding() : op.pad));
    const PoolText pool{op.kind == Kind::Max           ? PoolText::Kind::Max
                            : op.kind == Kind::Average ? PoolText::Kind::Average
                                                       : PoolText::Kind::Sum,
                        op.countPadding && !op.global, lowestOf(to.view.dtype)};
    const ChannelWindow::Kind form = op.kind == Kind::Max ? ChannelWindow::Kind::Max
        : op.kind == Kind::Average                        ? ChannelWindow::Kind::Average
                                                          : ChannelWindow::Kind::Sum;
    if (auto kernel = channelWindow(text, {form, pool.countsPadding, pool.lowest}, {}, "pooling")) {
        emitter.launch(std::move(*kernel), {from.buffer, to.buffer});
        return {};
    }
    const std::vector<tensor::DType> types{from.view.dtype};
    emitter.launch(perElement(types, text.result, poolText(text, pool), {}, "pooling"),
                   {from.buffer, to.buffer});
    return {};
}

} // namespace

std::optional<Result<void>> lowerWindow(Emitter &emitter)
{
    if (const auto *pool = emitter.node().op.getIf<ops::Pool>())
        return lowerPool(emitter, *pool);
    return std::nullopt;
}

} // namespace halftone::backends::cuda
