#include "core/ops/settle.h"

#include "core/ops/window.h"

#include <algorithm>

namespace halftone::ops {
namespace {

std::int64_t at(const Dims &values, std::size_t i)
{
    return i < values.size() ? values[i] : 1;
}

/// `total` on every axis, which may be below 0: nothing is added then.
Padding shared(const std::vector<std::int64_t> &totals, Padding::Same same)
{
    Padding pad;
    for (const std::int64_t needed : totals) {
        const std::int64_t total = std::max<std::int64_t>(needed, 0);
        const std::int64_t less = total / 2;
        pad.begin.push_back(same == Padding::Same::OddAtEnd ? less : total - less);
        pad.end.push_back(same == Padding::Same::OddAtEnd ? total - less : less);
    }
    return pad;
}

/// Of a window that moves over the input's spatial axes.
template <class Window>
Padding windowPadding(const Window &op, const tensor::Shape &data)
{
    const std::size_t first = firstSpatialAxis(op.layout);
    std::vector<std::int64_t> totals;
    for (std::size_t i = 0; i < op.kernel.size() && first + i < data.rank(); ++i) {
        const std::int64_t extent = data[first + i];
        const std::int64_t stride = at(op.stride, i);
        const std::int64_t steps = (extent + stride - 1) / stride;
        totals.push_back((steps - 1) * stride + (op.kernel[i] - 1) * at(op.dilate, i) + 1 - extent);
    }
    return shared(totals, op.pad.same);
}

Padding spreadPadding(const ConvTranspose &op)
{
    std::vector<std::int64_t> totals;
    for (std::size_t i = 0; i < op.kernel.size(); ++i)
        totals.push_back((op.kernel[i] - 1) * at(op.dilate, i) + 1
                         + (i < op.outputPad.size() ? op.outputPad[i] : 0) - at(op.stride, i));
    return shared(totals, op.pad.same);
}

} // namespace

Operator settled(const Operator &op, std::span<const tensor::Shape> inputs)
{
    const auto isOpen = [&](const Padding &pad) { return pad.same != Padding::Same::No && !inputs.empty(); };
    if (const auto *conv = op.getIf<Conv>(); conv && isOpen(conv->pad)) {
        Conv result = *conv;
        result.pad = windowPadding(result, inputs[0]);
        return result;
    }
    if (const auto *conv = op.getIf<CodedConv>(); conv && isOpen(conv->conv.pad)) {
        CodedConv result = *conv;
        result.conv.pad = windowPadding(result.conv, inputs[0]);
        return result;
    }
    if (const auto *pool = op.getIf<Pool>(); pool && isOpen(pool->pad) && !pool->global) {
        Pool result = *pool;
        result.pad = windowPadding(result, inputs[0]);
        result.rounding = Pool::Rounding::Valid;
        return result;
    }
    if (const auto *deconv = op.getIf<ConvTranspose>(); deconv && isOpen(deconv->pad)) {
        ConvTranspose result = *deconv;
        result.pad = spreadPadding(result);
        return result;
    }
    return op;
}

} // namespace halftone::ops
