#include "core/backends/reference/kernels.h"
#include "core/backends/reference/matrix.h"
#include "core/backends/reference/spatial.h"
#include "core/tensor/bfloat16.h"

#include <algorithm>

namespace halftone::backends::reference {
namespace {

constexpr std::int64_t kPadding = -1;

/// Where in the picture the window's tap lies for each of the output positions [first, first + kPanelColumns);
/// kPadding outside, and beyond the last position.
std::array<std::int64_t, kPanelColumns> tapOffsets(const Window3 &window, const Picture &input,
                                                   const Picture &output, std::int64_t first,
                                                   const std::array<std::int64_t, 3> &tap)
{
    std::array<std::int64_t, kPanelColumns> offsets;
    offsets.fill(kPadding);
    const std::int64_t end
        = std::min<std::int64_t>(output.positions() - first, static_cast<std::int64_t>(kPanelColumns));
    for (std::int64_t j = 0; j < end; ++j) {
        const auto at = output.position(first + j);
        std::int64_t offset = 0;
        bool inside = true;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const std::int64_t x
                = at[axis] * window.stride[axis] - window.padBegin[axis] + tap[axis] * window.dilate[axis];
            inside = inside && x >= 0 && x < input.size[axis];
            offset += x * input.strides[axis];
        }
        if (inside)
            offsets[static_cast<std::size_t>(j)] = offset;
    }
    return offsets;
}

/// One group of one picture: the panel's columns are output positions, its rows (channel, tap) or, with the channels
/// last, (tap, channel), as the weight has them.
template <class Real>
struct Columns
{
    const Window3 &window;
    const Picture &input;
    const Picture &output;
    const Real *data;
    std::int64_t channels;
    Layout layout;

    void operator()(std::size_t first, Real *panel) const
    {
        const std::int64_t taps = window.taps();
        const bool channelsFirst = layout == Layout::ChannelsFirst;
        for (std::int64_t t = 0; t < taps; ++t) {
            const auto offsets
                = tapOffsets(window, input, output, static_cast<std::int64_t>(first), window.tap(t));
            const bool isRun = offsets.front() != kPadding && offsets.back() != kPadding
                && input.strides[2] == 1 && window.stride[2] == 1
                && offsets.back() - offsets.front() == static_cast<std::int64_t>(kPanelColumns) - 1
                && std::ranges::find(offsets, kPadding) == offsets.end();
            for (std::int64_t c = 0; c < channels; ++c) {
                const Real *plane = data + c * input.channelStride;
                Real *row = panel
                    + (channelsFirst ? c * taps + t : t * channels + c)
                        * static_cast<std::int64_t>(kPanelColumns);
                if (isRun) {
                    std::copy_n(plane + offsets.front(), kPanelColumns, row);
                    continue;
                }
                for (std::size_t j = 0; j < kPanelColumns; ++j)
                    row[j] = offsets[j] == kPadding ? Real(0) : plane[offsets[j]];
            }
        }
    }
};

} // namespace

template <class Real>
Result<void> compute(const ops::Conv &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const ops::Window checked, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    const Window3 window(checked);
    const Picture input(arrays.inDims(0), op.layout);
    const Picture output(arrays.outDims(0), op.layout);
    const std::int64_t groupInputs = input.channels / op.groups;
    const std::int64_t groupOutputs = output.channels / op.groups;
    const std::int64_t depth = groupInputs * window.taps();
    const Real *bias = op.hasBias ? arrays.in[2] : nullptr;
    for (std::int64_t n = 0; n < arrays.inDims(0)[0]; ++n) {
        for (std::int64_t g = 0; g < op.groups; ++g) {
            const Columns<Real> columns{
                window,      input,
                output,      arrays.in[0] + n * input.batchStride + g * groupInputs * input.channelStride,
                groupInputs, op.layout};
            Real *out = arrays.out[0] + n * output.batchStride + g * groupOutputs * output.channelStride;
            // Output positions are one run of memory, row after row, in either layout.
            multiply<Real>(arrays.summing(), static_cast<std::size_t>(groupOutputs),
                           static_cast<std::size_t>(depth), static_cast<std::size_t>(output.positions()),
                           {arrays.in[1] + g * groupOutputs * depth, depth, 1}, PackPanel<Real>(columns),
                           bias ? bias + g * groupOutputs : nullptr,
                           {out, output.channelStride, output.strides[2]});
        }
    }
    return {};
}

namespace {

/// A sum as its accumulator has it.
template <class Real>
Real rounded(const Arrays<Real> &arrays, Real sum)
{
    const tensor::DType type = arrays.operation.accumulator;
    return type == tensor::DType::F16
        ? static_cast<Real>(tensor::floatFromFloat16(tensor::float16FromFloat(static_cast<float>(sum))))
        : type == tensor::DType::BF16
        ? static_cast<Real>(tensor::floatFromBfloat16(tensor::bfloat16FromFloat(static_cast<float>(sum))))
        : sum;
}

/// How much of the full result is cut off at the front of an axis.
std::array<std::int64_t, 3> cutOff(const ops::ConvTranspose &op, const ops::Window &checked,
                                   const Picture &input, const Picture &output)
{
    const Window3 window(checked);
    const bool targeted = std::ranges::any_of(op.targetShape, [](std::int64_t x) { return x != 0; });
    if (!targeted)
        return window.padBegin;
    std::array<std::int64_t, 3> cut{};
    for (std::size_t axis = 3 - checked.rank(); axis < 3; ++axis) {
        const std::int64_t full = window.stride[axis] * (input.size[axis] - 1)
            + window.dilate[axis] * (window.kernel[axis] - 1) + 1;
        cut[axis] = (full - output.size[axis] + 1) / 2;
    }
    return cut;
}

} // namespace

template <class Real>
Result<void> compute(const ops::ConvTranspose &op, const Arrays<Real> &arrays)
{
    HALFTONE_TRY(const ops::Window checked, ops::makeWindow(op.kernel, op.stride, op.dilate, op.pad));
    const Window3 window(checked);
    const Picture input(arrays.inDims(0), op.layout);
    const Picture output(arrays.outDims(0), op.layout);
    const auto cut = cutOff(op, checked, input, output);
    const std::int64_t groupInputs = input.channels / op.groups;
    const std::int64_t groupOutputs = output.channels / op.groups;
    const std::int64_t taps = window.taps();
    const std::int64_t rows = groupOutputs * taps;
    const std::int64_t positions = input.positions();
    const bool channelsFirst = op.layout == Layout::ChannelsFirst;
    // What every input position sends to every (channel, tap) of the result, then scattered.
    std::vector<Real> sent(static_cast<std::size_t>(rows * positions));
    std::fill_n(arrays.out[0], arrays.outCount(0), Real(0));
    for (std::int64_t n = 0; n < arrays.inDims(0)[0]; ++n) {
        for (std::int64_t g = 0; g < op.groups; ++g) {
            const Real *data = arrays.in[0] + n * input.batchStride + g * groupInputs * input.channelStride;
            Real *out = arrays.out[0] + n * output.batchStride + g * groupOutputs * output.channelStride;
            multiply<Real>(arrays.summing(), static_cast<std::size_t>(rows),
                           static_cast<std::size_t>(groupInputs), static_cast<std::size_t>(positions),
                           {arrays.in[1] + g * groupInputs * rows, 1, rows},
                           MatrixView<const Real>{data, input.channelStride, input.strides[2]}, nullptr,
                           {sent.data(), positions, 1});
            arrays.workers.share(
                static_cast<std::size_t>(groupOutputs), static_cast<std::size_t>(taps * positions),
                [&](std::size_t begin, std::size_t end) {
                    for (auto c = static_cast<std::int64_t>(begin); c < static_cast<std::int64_t>(end); ++c) {
                        for (std::int64_t t = 0; t < taps; ++t) {
                            const auto tap = window.tap(t);
                            const Real *from = sent.data()
                                + (channelsFirst ? c * taps + t : t * groupOutputs + c) * positions;
                            for (std::int64_t p = 0; p < positions; ++p) {
                                const auto at = input.position(p);
                                std::int64_t offset = c * output.channelStride;
                                bool inside = true;
                                for (std::size_t axis = 0; axis < 3; ++axis) {
                                    const std::int64_t x = at[axis] * window.stride[axis]
                                        + tap[axis] * window.dilate[axis] - cut[axis];
                                    inside = inside && x >= 0 && x < output.size[axis];
                                    offset += x * output.strides[axis];
                                }
                                if (inside)
                                    out[offset] = rounded(arrays, out[offset] + from[p]);
                            }
                        }
                    }
                });
        }
    }
    if (op.hasBias) {
        for (std::int64_t n = 0; n < arrays.inDims(0)[0]; ++n) {
            for (std::int64_t c = 0; c < output.channels; ++c) {
                Real *out = arrays.out[0] + n * output.batchStride + c * output.channelStride;
                for (std::int64_t p = 0; p < output.positions(); ++p)
                    out[p * output.strides[2]] += arrays.in[2][c];
            }
        }
    }
    return {};
}

HALFTONE_BOTH(Conv)
HALFTONE_BOTH(ConvTranspose)

} // namespace halftone::backends::reference
