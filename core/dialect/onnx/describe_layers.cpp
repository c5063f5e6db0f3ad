#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/operator_rows.h"
#include "core/dialect/onnx/window_fields.h"

#include <array>

/// Convolutions, products and normalisations.
namespace halftone::dialect::onnx {
namespace {

using ops::Operator;

Operator conv(NodeReader &in)
{
    return readConv(in, 1, in.hasInput(2));
}

/// An output shape that is given decides the padding, for which the input's extents are needed.
void padToShape(NodeReader &in, ops::ConvTranspose &op, const ops::Dims &shape)
{
    const tensor::Shape *const data = in.shape(0);
    if (data == nullptr)
        return;
    const std::size_t axes = op.kernel.size();
    if (shape.size() != axes || data->rank() != axes + 2)
        return in.fail("output_shape", std::to_string(shape.size()) + " values", std::to_string(axes));
    const bool oddAtEnd = op.pad.same == ops::Padding::Same::OddAtEnd;
    op.pad = {};
    op.outputPad.resize(axes, 0);
    for (std::size_t i = 0; i < axes; ++i) {
        const std::int64_t stride = i < op.stride.size() ? op.stride[i] : 1;
        const std::int64_t dilate = i < op.dilate.size() ? op.dilate[i] : 1;
        const std::int64_t full
            = stride * ((*data)[i + 2] - 1) + op.outputPad[i] + (op.kernel[i] - 1) * dilate + 1;
        const std::int64_t total = std::max<std::int64_t>(full - shape[i], 0);
        op.outputPad[i] += std::max<std::int64_t>(shape[i] - full, 0);
        op.pad.begin.push_back(oddAtEnd ? total / 2 : total - total / 2);
        op.pad.end.push_back(total - op.pad.begin.back());
    }
}

Operator convTranspose(NodeReader &in)
{
    ops::ConvTranspose op;
    readWindow(in, op, 1);
    op.groups = in.integer("group", 1);
    op.hasBias = in.hasInput(2);
    op.outputPad = in.integers("output_padding");
    if (const tensor::Shape *weight = in.shape(1); weight && weight->rank() > 1)
        op.outputChannels = (*weight)[1] * op.groups;
    if (const ops::Dims shape = in.integers("output_shape"); !shape.empty())
        padToShape(in, op, shape);
    return op;
}

Operator deformConv(NodeReader &in)
{
    ops::DeformConv op;
    op.conv = readConv(in, 1, in.hasInput(3));
    op.offsetGroups = in.integer("offset_group", 1);
    op.modulated = in.hasInput(4);
    op.weightSecond = true;
    return op;
}

/// As a fully connected layer where it is one, since backends know that.
Operator gemm(NodeReader &in)
{
    const bool transposeA = in.boolean("transA");
    const bool transposeB = in.boolean("transB");
    const double alpha = in.real("alpha", 1);
    const double beta = in.real("beta", 1);
    const bool hasAddend = in.hasInput(2);
    const tensor::Tensor *const weight = in.knownValue(1);
    const tensor::Tensor *const bias = in.knownValue(2);
    const bool isLayer = !transposeA && transposeB && alpha == 1 && weight && weight->shape().rank() == 2
        && (!hasAddend
            || (beta == 1 && bias && bias->shape().rank() == 1 && bias->shape()[0] == weight->shape()[0]));
    if (isLayer)
        return ops::FullyConnected{weight->shape()[0], false, hasAddend};
    return ops::Gemm{transposeA, transposeB, hasAddend, true, alpha, beta};
}

Operator matMul(NodeReader &)
{
    return ops::MatMul{.form = ops::MatMul::Form::Stretched};
}

Operator einsum(NodeReader &in)
{
    return ops::Einsum{in.text("equation")};
}

Operator batchNormalization(NodeReader &in)
{
    if (in.boolean("training_mode"))
        return ops::BatchNormTraining{in.real("epsilon", 1e-5), in.real("momentum", 0.9)};
    return ops::BatchNormalization{.epsilon = in.real("epsilon", 1e-5),
                                   .momentum = in.real("momentum", 0.9),
                                   .fixGamma = false,
                                   .useGlobalStats = true};
}

Operator layerNormalization(NodeReader &in)
{
    return ops::LayerNormalization{in.integer("axis", -1), in.real("epsilon", 1e-5), in.hasInput(2)};
}

Operator rmsNormalization(NodeReader &in)
{
    return ops::LayerNormalization{in.integer("axis", -1), in.real("epsilon", 1e-5), false, false};
}

Operator groupNormalization(NodeReader &in)
{
    return ops::GroupNormalization{.groups = in.integer("num_groups"),
                                   .epsilon = in.real("epsilon", 1e-5),
                                   .perChannel = in.opset() >= 21 && !in.has(kGroupScalesKey)};
}

Operator instanceNormalization(NodeReader &in)
{
    return ops::InstanceNormalization{in.real("epsilon", 1e-5)};
}

Operator meanVarianceNormalization(NodeReader &in)
{
    return ops::MeanVarianceNormalization{in.optionalIntegers("axes").value_or(ops::Dims{0, 2, 3})};
}

Operator lpNormalization(NodeReader &in)
{
    const std::int64_t p = in.integer("p", 2);
    if (p != 1 && p != 2)
        in.fail("p", std::to_string(p), "1 or 2");
    return ops::LpNormalization{in.integer("axis", -1), p};
}

Operator lrn(NodeReader &in)
{
    return ops::LRN{in.integer("size"), in.real("alpha", 1e-4), in.real("beta", 0.75), in.real("bias", 1)};
}

template <ops::Pool::Kind kind>
Operator pool(NodeReader &in)
{
    ops::Pool op;
    op.kind = kind;
    readWindow(in, op, 0);
    op.rounding = in.boolean("ceil_mode") ? ops::Pool::Rounding::Full : ops::Pool::Rounding::Valid;
    op.countPadding = kind == ops::Pool::Kind::Average && in.boolean("count_include_pad");
    op.windowsBeginInside = true;
    if (kind == ops::Pool::Kind::Lp)
        op.p = in.integer("p", 2);
    op.absolute = kind == ops::Pool::Kind::Lp;
    op.indicesByColumn = kind == ops::Pool::Kind::Max && in.boolean("storage_order");
    return op;
}

template <ops::Pool::Kind kind>
Operator globalPool(NodeReader &in)
{
    ops::Pool op;
    op.kind = kind;
    op.global = true;
    if (kind == ops::Pool::Kind::Lp)
        op.p = in.integer("p", 2);
    op.absolute = kind == ops::Pool::Kind::Lp;
    return op;
}

Operator maxUnpool(NodeReader &in)
{
    ops::MaxUnpool op;
    op.kernel = in.integers("kernel_shape");
    op.stride = in.integers("strides");
    op.pad = readPads(in, op.kernel.size());
    op.shape = in.integersAt(2);
    return op;
}

} // namespace

std::span<const OperatorRow> layerRows()
{
    // clang-format off
    static constexpr std::array kRows{
        OperatorRow{"Conv", conv},
        OperatorRow{"ConvTranspose", convTranspose},
        OperatorRow{"DeformConv", deformConv},
        OperatorRow{"Gemm", gemm},
        OperatorRow{"MatMul", matMul},
        OperatorRow{"Einsum", einsum},
        OperatorRow{"BatchNormalization", batchNormalization},
        OperatorRow{"LayerNormalization", layerNormalization},
        OperatorRow{"RMSNormalization", rmsNormalization},
        OperatorRow{"GroupNormalization", groupNormalization},
        OperatorRow{"InstanceNormalization", instanceNormalization},
        OperatorRow{"MeanVarianceNormalization", meanVarianceNormalization},
        OperatorRow{"LpNormalization", lpNormalization},
        OperatorRow{"LRN", lrn},
        OperatorRow{"MaxPool", pool<ops::Pool::Kind::Max>},
        OperatorRow{"AveragePool", pool<ops::Pool::Kind::Average>},
        OperatorRow{"LpPool", pool<ops::Pool::Kind::Lp>},
        OperatorRow{"GlobalMaxPool", globalPool<ops::Pool::Kind::Max>},
        OperatorRow{"GlobalAveragePool", globalPool<ops::Pool::Kind::Average>},
        OperatorRow{"GlobalLpPool", globalPool<ops::Pool::Kind::Lp>},
        OperatorRow{"MaxUnpool", maxUnpool},
    };
    // clang-format on
    return kRows;
}

} // namespace halftone::dialect::onnx
