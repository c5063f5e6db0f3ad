#include "core/dialect/onnx/operator_rows.h"

#include <array>

namespace halftone::dialect::onnx {
namespace {

/// auto_pad needs the extents of the input, which a struct does not know: only written padding is read here.
ops::Operator conv(NodeReader &in)
{
    ops::Conv op;
    op.kernel = in.integers("kernel_shape");
    op.stride = in.integers("strides");
    op.dilate = in.integers("dilations");
    op.groups = in.integer("group", 1);
    op.hasBias = in.hasInput(2);
    if (const tensor::Tensor *const weights = in.value(1);
        weights != nullptr && weights->shape().rank() > 2) {
        op.outputChannels = weights->shape()[0];
        op.kernel.assign(weights->shape().dims().begin() + 2, weights->shape().dims().end());
    }
    const ops::Dims pads = in.integers("pads");
    const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
    op.pad.begin.assign(pads.begin(), pads.begin() + half);
    op.pad.end.assign(pads.begin() + half, pads.end());
    if (const std::string how = in.text("auto_pad"); how != "NOTSET" && how != "VALID")
        return ops::Opaque{in.node().op};
    return op;
}

} // namespace

std::span<const OperatorRow> layerRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"Conv", conv},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
