#pragma once

#include "core/dialect/onnx/node_reader.h"
#include "core/ops/operator.h"

#include <array>
#include <string_view>

/// The attributes that convolutions and poolings share.
namespace halftone::dialect::onnx {

/// Attribute "pads", begins and then ends of `axes` axes, and "auto_pad".
inline ops::Padding readPads(NodeReader &in, std::size_t axes)
{
    static constexpr std::array<std::string_view, 5> kWays{"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", ""};
    ops::Padding pad;
    switch (in.choice("auto_pad", kWays)) {
    case 1:
        return pad;
    case 2:
        pad.same = ops::Padding::Same::OddAtEnd;
        return pad;
    case 3:
        pad.same = ops::Padding::Same::OddAtBegin;
        return pad;
    default:
        break;
    }
    const ops::Dims pads = in.integers("pads");
    if (axes > 0 && !pads.empty() && pads.size() != 2 * axes) { // where the kernel is known
        in.fail("pads", std::to_string(pads.size()) + " values", std::to_string(2 * axes));
        return pad;
    }
    const auto half = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
    pad.begin.assign(pads.begin(), half);
    pad.end.assign(half, pads.end());
    return pad;
}

/// Kernel, strides, dilations and padding; the kernel's extents stand in the weight where no attribute says them.
/// `weight`: its slot; 0: there is none
template <class Op>
void readWindow(NodeReader &in, Op &op, std::size_t weight)
{
    op.kernel = in.integers("kernel_shape");
    if (op.kernel.empty() && weight > 0) {
        const tensor::Shape *const known = in.shape(weight);
        if (known != nullptr && known->rank() > 2)
            op.kernel.assign(known->dims().begin() + 2, known->dims().end());
    }
    op.stride = in.integers("strides");
    op.dilate = in.integers("dilations");
    op.pad = readPads(in, op.kernel.size());
}

inline ops::Conv readConv(NodeReader &in, std::size_t weight, bool hasBias)
{
    ops::Conv op;
    readWindow(in, op, weight);
    op.groups = in.integer("group", 1);
    op.hasBias = hasBias;
    if (const tensor::Shape *known = in.shape(weight); known && known->rank() > 0)
        op.outputChannels = (*known)[0];
    return op;
}

} // namespace halftone::dialect::onnx
